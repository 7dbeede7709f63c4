import { setPolicy } from '../identity/policy-settings.ts';
import type { Policy as PolicyRead } from '../lease/policy.ts';
import { readPolicy } from '../read/policy.ts';
import { requireAdmin } from './admin.ts';
import { builder } from './builder.ts';

/** How long leases run, and how many there may be. */
const Policy = builder.objectRef<PolicyRead>('Policy').implement({
  description: "The policy that counts: the project's own durations, else the tenant's, else the defaults.",
  fields: (t) => ({
    claimTtlMs: t.exposeFloat('claimTtlMs', { description: 'Length of an ordinary lease, in milliseconds.' }),
    claimTtlMaxMs: t.exposeFloat('claimTtlMaxMs', {
      description: 'How far ahead of now an extension may reach, in milliseconds.',
    }),
    reserveGraceMs: t.exposeFloat('reserveGraceMs', {
      description: 'The grace window of a reservation, in milliseconds.',
    }),
    bulkMax: t.exposeInt('bulkMax', { description: 'The longest list of ids in one call.' }),
    heldMax: t.exposeInt('heldMax', {
      description: 'The most leases in force for one person, counted when one is granted.',
    }),
  }),
});

builder.queryField('policy', (t) =>
  t.field({
    type: Policy,
    description: 'The policy of the tenant, or of a project.',
    args: { project: t.arg.string({ description: 'The project; the tenant as a whole when left out.' }) },
    resolve: (_root, { project }, { reads, identity }) => readPolicy(reads, identity.tenantId, project ?? null),
  }),
);

const SetPolicyInput = builder.inputType('SetPolicyInput', {
  description:
    'What to change. A field left out stays as it is; null takes the setting away, so that the wider one counts.',
  fields: (t) => ({
    project: t.string({ description: "The project whose durations to change; the tenant's policy when left out." }),
    claimTtlMs: t.float({ description: 'Length of an ordinary lease, in milliseconds, from 1 second to 90 days.' }),
    claimTtlMaxMs: t.float({
      description: 'How far ahead of now an extension may reach, in milliseconds, from 1 second to 90 days.',
    }),
    reserveGraceMs: t.float({
      description: 'The grace window of a reservation, in milliseconds, from 1 second to 90 days.',
    }),
    bulkMax: t.int({ description: 'The longest list of ids in one call, 1 to 10000. Of the tenant only.' }),
    heldMax: t.int({ description: 'The most leases in force for one person, at least 1. Of the tenant only.' }),
  }),
});

const SetPolicyPayload = builder.objectRef<PolicyRead>('SetPolicyPayload').implement({
  description: 'The policy after the change.',
  fields: (t) => ({ policy: t.field({ type: Policy, description: 'What counts now.', resolve: (policy) => policy }) }),
});

builder.mutationField('setPolicy', (t) =>
  t.field({
    type: SetPolicyPayload,
    nullable: true,
    description:
      'Changes the policy. Never moves the end of a lease already granted. Needs admin rights. Errors: INVALID_INPUT.',
    args: { input: t.arg({ type: SetPolicyInput, required: true, description: 'What to change.' }) },
    resolve: async (_root, { input: { project, ...settings } }, context) => {
      const { tenantId } = requireAdmin(context);
      await setPolicy(context.reads, tenantId, { project: project ?? null, settings });
      return readPolicy(context.reads, tenantId, project ?? null);
    },
  }),
);
