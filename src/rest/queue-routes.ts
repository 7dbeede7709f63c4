import { z } from 'zod';
import { executeBulk, refuseTooMany } from '../engine/bulk.ts';
import { releaseHeld, renewHeld } from '../engine/held.ts';
import { callerOf } from '../identity/authenticate.ts';
import { refuseMalformed } from '../lease/check-input.ts';
import type { Refusal } from '../lease/refusal.ts';
import { readPolicy } from '../read/policy.ts';
import { idList, optionalText } from './body.ts';
import { bulkJson, claimedMany, releasedMany, renewedMany } from './bulk-answer.ts';
import type { RestContext, RestParts } from './door.ts';
import { refusalAnswer } from './errors.ts';
import type { Routes } from './routes.ts';

/** The bulk verbs: `POST /v1/queue/<verb>`. */
const length = { minLength: 1, maxLength: 200 } as const;
const claimBody = z.object({
  ids: idList.describe('The nodes, at most `bulk_max`, 1,000 by default. One that is named twice counts once.'),
  session: optionalText.describe('The run to bind each lease to.').meta(length),
});
const heldBody = z.object({
  session: optionalText.describe('Only leases that are bound to exactly this run.').meta(length),
  project: optionalText.describe('Only leases of nodes in this project.'),
});
const renewBody = z.object({
  ids: idList.nullish().describe('The nodes, at most `bulk_max`; absent for every lease that the caller holds.'),
  session: optionalText
    .describe('With ids: the run to bind each lease to. Without: only leases that are bound to exactly this run.')
    .meta(length),
  project: optionalText.describe('Without ids: only leases of nodes in this project.'),
});

export function queueRoutes(routes: Routes, parts: RestParts): void {
  const { engine, reads } = parts;
  routes.add(
    {
      ...{ method: 'POST', path: '/v1/queue/claim', name: 'claimMany', tag: 'queue', body: claimBody },
      ...{ summary: 'Claim a list of nodes. What lands stays, whatever becomes of the rest.', answer: claimedMany },
    },
    async (c, { body: { ids, session } }) => {
      const identity = c.get('identity');
      const caller = callerOf(identity);
      const refused = (await tooMany(c, ids)) ?? badSession(c, session);
      if (refused !== null) return refusalAnswer(c, refused, new Map());
      const { answers } = await executeBulk(engine, identity.tenantId, ids, (nodeId) => ({
        ...{ verb: 'claim', nodeId, caller, session, dispatch: null, force: false },
      }));
      return bulkJson(parts, c, answers, 'claimed');
    },
  );
  routes.add(
    {
      ...{ method: 'POST', path: '/v1/queue/renew', name: 'renewMany', tag: 'queue', body: renewBody },
      summary: 'The heartbeat for a list of nodes, or for all that the caller holds.',
      description: 'With ids, a free node is taken back. Without, nothing ever is, and reservations are left alone.',
      answer: renewedMany,
    },
    async (c, { body: { ids, session, project } }) => {
      const identity = c.get('identity');
      const caller = callerOf(identity);
      const refused = (await tooMany(c, ids ?? [])) ?? badSession(c, session);
      if (refused !== null) return refusalAnswer(c, refused, new Map());
      if (ids == null) return renewAllHeld(c, { session, project });
      const { answers } = await executeBulk(engine, identity.tenantId, ids, (nodeId) => ({
        ...{ verb: 'renew', nodeId, caller, session, fence: null },
      }));
      return bulkJson(parts, c, answers, 'renewed');
    },
  );
  routes.add(
    {
      ...{ method: 'POST', path: '/v1/queue/release', name: 'releaseMany', tag: 'queue', body: heldBody },
      ...{ summary: 'Give back all that the caller holds, reservations too.', answer: releasedMany },
    },
    async (c, { body: { session, project } }) => {
      const identity = c.get('identity');
      const refused = badSession(c, session);
      if (refused !== null) return refusalAnswer(c, refused, new Map());
      const caller = callerOf(identity);
      const { answers } = await releaseHeld(engine, reads, identity.tenantId, caller, { session, project });
      const released = answers
        .filter(({ outcome }) => outcome.kind === 'released' && outcome.ended)
        .map(({ nodeId }) => nodeId);
      return { ok: true as const, status: 'released' as const, released, count: released.length };
    },
  );

  async function renewAllHeld(c: RestContext, filter: { session: string | null; project: string | null }) {
    const identity = c.get('identity');
    const { answers, skipped } = await renewHeld(engine, reads, identity.tenantId, callerOf(identity), filter);
    return {
      ...(await bulkJson(parts, c, answers, 'renewed')),
      ...(skipped.session > 0 && { skipped_other_session: skipped.session }),
      ...(skipped.reserved > 0 && { skipped_reserved: skipped.reserved }),
      ...(skipped.project > 0 && { skipped_other_project: skipped.project }),
    };
  }

  async function tooMany(c: RestContext, ids: readonly string[]): Promise<Refusal | null> {
    return refuseTooMany('ids', ids, (await readPolicy(reads, c.get('identity').tenantId, null)).bulkMax);
  }

  /** One session for the whole call, so a bad one refuses the whole call. */
  function badSession(c: RestContext, session: string | null): Refusal | null {
    return refuseMalformed({ verb: 'renew', nodeId: 'any', caller: callerOf(c.get('identity')), session, fence: null });
  }
}
