import { z } from 'zod';
import { callerOf } from '../identity/authenticate.ts';
import type { Caller, Command } from '../lease/command.ts';
import { optionalFence, optionalFlag, optionalText } from './body.ts';
import { leasesIn, namesOf, nodeParams, type RestContext, type RestParts } from './door.ts';
import { type ErrorCode, refusalAnswer } from './errors.ts';
import type { Routes } from './routes.ts';
import { statusJson, statusSet } from './status-answer.ts';
import { claimed, extended, heldJson, released, releasedJson, renewed, reserved } from './wire.ts';

/** The verbs on one node: `POST /v1/nodes/{id}/<verb>`. */
const session = optionalText
  .describe('The run to bind the lease to; absent leaves the binding as it is.')
  .meta({ minLength: 1, maxLength: 200 });
const fence = optionalFence.describe('Act only if this is still the fence of the lease in force.');
const claimBody = z.object({
  session,
  dispatch: optionalText
    .describe('The nonce of one agent launch; keeps it apart from other launches of the same person.')
    .meta({ minLength: 1, maxLength: 200 }),
  force: optionalFlag.describe('Replace an earlier launch of the same person; needs a dispatch that differs.'),
});
const heartbeatBody = z.object({ session, fence });
// What ms may be is a rule of the domain; JSON has no other number than a finite one, but text and null reach it too.
const extendBody = z.object({
  session,
  fence,
  ms: z
    .number('must be a number above 0, in milliseconds')
    .describe('How much further the end moves, milliseconds; above 0, fractions are rounded up.'),
});
const releaseBody = z.object({ fence });
const statusBody = z.object({ status: z.string('must be a string').describe('The new status, in small letters.') });

interface Verb<S extends z.ZodType> {
  readonly verb: 'claim' | 'renew' | 'extend' | 'reserve' | 'release' | 'status';
  readonly name: string;
  readonly summary: string;
  readonly body: S;
  readonly answer: z.ZodType;
  readonly errors: readonly ErrorCode[];
}

export function leaseRoutes(routes: Routes, parts: RestParts): void {
  /** One verb: what it is, its command, and the answer of its outcome. */
  function add<S extends z.ZodType>(
    { verb, errors, ...described }: Verb<S>,
    command: (nodeId: string, caller: Caller, body: z.output<S>) => Command,
  ): void {
    routes.add(
      {
        ...described,
        method: 'POST',
        path: `/v1/nodes/{id}/${verb}`,
        tag: 'leases',
        params: nodeParams,
        errors: ['not_found', ...errors],
      },
      async (c, { params, body }) => answer(c, command(params.id, callerOf(c.get('identity')), body)),
    );
  }

  async function answer(c: RestContext, command: Command): Promise<Record<string, unknown> | Response> {
    const identity = c.get('identity');
    const outcome = await parts.engine.executeOne(identity.tenantId, command);
    const names = await namesOf(parts, identity, leasesIn(outcome));
    switch (outcome.kind) {
      case 'refused':
        return refusalAnswer(c, outcome, names);
      case 'held':
        return heldJson(outcome, names);
      case 'released':
        return releasedJson(command.nodeId, outcome);
      case 'status-set':
        return statusJson(command.nodeId, outcome, names);
      default:
        throw new Error(`${command.verb} answered ${outcome.kind}`);
    }
  }

  const grant = ['invalid_node', 'not_ready', 'limit_reached'] as const;
  add(
    {
      ...{ verb: 'claim', name: 'claim', summary: 'Take the lease of a node, or renew the own one.' },
      ...{ body: claimBody, answer: claimed, errors: [...grant, 'conflict'] },
    },
    (nodeId, caller, body) => ({ verb: 'claim', nodeId, caller, ...body, force: body.force ?? false }),
  );
  add(
    {
      ...{ verb: 'renew', name: 'renew', summary: 'The heartbeat. Takes a free node back; never shortens a lease.' },
      ...{ body: heartbeatBody, answer: renewed, errors: [...grant, 'lease_lost'] },
    },
    (nodeId, caller, body) => ({ verb: 'renew', nodeId, caller, ...body }),
  );
  add(
    {
      ...{ verb: 'extend', name: 'extend', summary: 'Move the end of the lease further, up to the longest claim.' },
      ...{ body: extendBody, answer: extended, errors: [...grant, 'lease_lost'] },
    },
    (nodeId, caller, body) => ({ verb: 'extend', nodeId, caller, ...body }),
  );
  add(
    {
      ...{ verb: 'reserve', name: 'reserve', summary: 'Park the node for the caller, without heartbeats.' },
      ...{ body: heartbeatBody, answer: reserved, errors: [...grant, 'lease_lost'] },
    },
    (nodeId, caller, body) => ({ verb: 'reserve', nodeId, caller, ...body }),
  );
  add(
    {
      ...{ verb: 'release', name: 'release', summary: 'Give the node back, with the assigned edge of the caller.' },
      ...{ body: releaseBody, answer: released, errors: ['invalid_node', 'conflict', 'lease_lost'] },
    },
    (nodeId, caller, body) => ({ verb: 'release', nodeId, caller, ...body }),
  );
  add(
    {
      ...{ verb: 'status', name: 'setStatus', summary: 'Set the status of a node. An active one claims it as well.' },
      ...{ body: statusBody, answer: statusSet, errors: ['transition_denied'] },
    },
    (nodeId, caller, body) => ({ verb: 'set-status', nodeId, caller, ...body }),
  );
}
