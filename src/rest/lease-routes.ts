import { Hono } from 'hono';
import { z } from 'zod';
import { callerOf } from '../identity/authenticate.ts';
import type { Caller, Command } from '../lease/command.ts';
import type { StatusSet } from '../lease/outcome.ts';
import { optionalFence, optionalFlag, optionalText, readBody } from './body.ts';
import { leasesIn, namesOf, type RestContext, type RestEnv, type RestParts } from './door.ts';
import { refusalAnswer } from './errors.ts';
import { heldJson, leaseJson, type Names, releasedJson, renewalJson } from './wire.ts';

/** The verbs on one node: `POST /v1/nodes/{id}/<verb>`. */
const session = optionalText;
const fence = optionalFence;
const claimBody = z.object({ session, dispatch: optionalText, force: optionalFlag });
const heartbeatBody = z.object({ session, fence });
// What ms may be is a rule of the domain; JSON has no other number than a finite one, but text and null reach it too.
const extendBody = z.object({ session, fence, ms: z.number('must be a number above 0, in milliseconds') });
const releaseBody = z.object({ fence });
const statusBody = z.object({ status: z.string('must be a string') });

export function leaseRoutes(parts: RestParts): Hono<RestEnv> {
  const routes = new Hono<RestEnv>();

  /** One verb: its body, its command, and the answer of its outcome. */
  function verb<S extends z.ZodType>(
    name: string,
    body: S,
    command: (nodeId: string, caller: Caller, body: z.output<S>) => Command,
  ): void {
    routes.post(`/nodes/:id/${name}`, async (c) => {
      const read = await readBody(c, body);
      return answer(c, command(c.req.param('id'), callerOf(c.get('identity')), read));
    });
  }

  async function answer(c: RestContext, command: Command): Promise<Response> {
    const identity = c.get('identity');
    const outcome = await parts.engine.executeOne(identity.tenantId, command);
    const names = await namesOf(parts, identity, leasesIn(outcome));
    switch (outcome.kind) {
      case 'refused':
        return refusalAnswer(c, outcome, names);
      case 'held':
        return c.json(heldJson(outcome, names));
      case 'released':
        return c.json(releasedJson(command.nodeId, outcome));
      case 'status-set':
        return c.json(statusJson(command.nodeId, outcome, names));
      default:
        throw new Error(`${command.verb} answered ${outcome.kind}`);
    }
  }

  verb('claim', claimBody, (nodeId, caller, body) => ({
    verb: 'claim',
    nodeId,
    caller,
    ...body,
    force: body.force ?? false,
  }));
  verb('renew', heartbeatBody, (nodeId, caller, body) => ({ verb: 'renew', nodeId, caller, ...body }));
  verb('extend', extendBody, (nodeId, caller, body) => ({ verb: 'extend', nodeId, caller, ...body }));
  verb('reserve', heartbeatBody, (nodeId, caller, body) => ({ verb: 'reserve', nodeId, caller, ...body }));
  verb('release', releaseBody, (nodeId, caller, body) => ({ verb: 'release', nodeId, caller, ...body }));
  verb('status', statusBody, (nodeId, caller, body) => ({ verb: 'set-status', nodeId, caller, ...body }));
  return routes;
}

/** A refused claim leaves the status change standing, and says why in place of the lease. */
function statusJson(id: string, { revision, warnings, claim }: StatusSet, names: Names): Record<string, unknown> {
  const answer = { status: 'updated', id, revision: String(revision), warnings };
  if (claim === null) return answer;
  if (claim.kind === 'held') {
    return {
      ...answer,
      lease: leaseJson(claim.lease, names),
      expires_in_ms: claim.lease.expiresInMs,
      ...renewalJson(claim.lease),
    };
  }
  const error = claim.code === 'conflict' ? 'already_claimed' : claim.code;
  return { ...answer, lease: { error, ...(claim.holder !== null && { holder: claim.holder.holder }) } };
}
