import { AdminFault } from '../identity/admin-fault.ts';
import { FIRST_TENANT } from '../identity/first-start.ts';
import { disablePerson } from '../identity/people.ts';
import { createTenant } from '../identity/tenants.ts';
import type { PersonRead } from '../read/people.ts';
import { requireAdmin } from './admin.ts';
import { builder } from './builder.ts';
import { Person, stranger } from './person.ts';

/** Letting a tenant in, and shutting a person out. */
const CreateTenantInput = builder.inputType('CreateTenantInput', {
  description: 'Which organisation is new.',
  fields: (t) => ({
    id: t.id({
      required: true,
      description: 'The id of the tenant: small letters, digits and dashes. Its tokens show it.',
    }),
    name: t.string({ required: true, description: 'The name to show.' }),
  }),
});

const CreateTenantPayload = builder.objectRef<{ token: string }>('CreateTenantPayload').implement({
  description: 'The tenant that was made.',
  fields: (t) => ({
    token: t.exposeString('token', {
      description: "Its first admin's token. It is shown this once and stored nowhere.",
    }),
  }),
});

const DisablePersonInput = builder.inputType('DisablePersonInput', {
  description: 'Who is gone.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The id of the person.' }) }),
});

const DisablePersonPayload = builder.objectRef<PersonRead>('DisablePersonPayload').implement({
  description: 'The person who is shut out.',
  fields: (t) => ({ person: t.field({ type: Person, description: 'The person.', resolve: (person) => person }) }),
});

builder.mutationFields((t) => ({
  createTenant: t.field({
    type: CreateTenantPayload,
    nullable: true,
    description: 'Makes a tenant. Needs an admin of the first tenant, local. Errors: ALREADY_EXISTS, INVALID_INPUT.',
    args: { input: t.arg({ type: CreateTenantInput, required: true, description: 'Which.' }) },
    resolve: async (_root, { input }, context) => {
      if (requireAdmin(context).tenantId !== FIRST_TENANT)
        throw new AdminFault('FORBIDDEN', 'This needs an operator of the server.');
      return { token: await createTenant(context.reads, input) };
    },
  }),
  disablePerson: t.field({
    type: DisablePersonPayload,
    nullable: true,
    description:
      'Shuts a person and their agents out from now on. Their leases run out by themselves. Needs admin rights. Safe to repeat. Errors: NOT_FOUND, INVALID_INPUT.',
    args: { input: t.arg({ type: DisablePersonInput, required: true, description: 'Who.' }) },
    resolve: async (_root, { input: { id } }, context) => {
      await disablePerson(context.reads, requireAdmin(context).tenantId, id);
      return (await context.load.person.load(id)) ?? stranger(id);
    },
  }),
}));
