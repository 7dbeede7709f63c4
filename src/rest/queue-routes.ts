import { Hono } from 'hono';
import { z } from 'zod';
import { type Answered, executeBulk, refuseTooMany, tallyOf } from '../engine/bulk.ts';
import { releaseHeld, renewHeld } from '../engine/held.ts';
import { callerOf } from '../identity/authenticate.ts';
import { refuseMalformed } from '../lease/check-input.ts';
import type { Refusal } from '../lease/refusal.ts';
import { readPolicy } from '../read/policy.ts';
import { idList, optionalText, readBody } from './body.ts';
import { leasesIn, namesOf, type RestContext, type RestEnv, type RestParts } from './door.ts';
import { refusalAnswer } from './errors.ts';
import { leaseJson } from './wire.ts';

/** The bulk verbs: `POST /v1/queue/<verb>`. Ids that landed, and under `failed` what did not and why. */
const claimBody = z.object({ ids: idList, session: optionalText });
const heldBody = z.object({ session: optionalText, project: optionalText });
const renewBody = heldBody.extend({ ids: idList.nullish() });

export function queueRoutes(parts: RestParts): Hono<RestEnv> {
  const routes = new Hono<RestEnv>();
  const { engine, reads } = parts;

  routes.post('/queue/claim', async (c) => {
    const { ids, session } = await readBody(c, claimBody);
    const identity = c.get('identity');
    const caller = callerOf(identity);
    const refused = (await tooMany(c, ids)) ?? badSession(c, session);
    if (refused !== null) return refusalAnswer(c, refused, new Map());
    const { answers } = await executeBulk(engine, identity.tenantId, ids, (nodeId) => ({
      ...{ verb: 'claim', nodeId, caller, session, dispatch: null, force: false },
    }));
    return c.json(await bulkJson(c, answers, 'claimed'));
  });

  routes.post('/queue/renew', async (c) => {
    const { ids, session, project } = await readBody(c, renewBody);
    const identity = c.get('identity');
    const caller = callerOf(identity);
    const refused = (await tooMany(c, ids ?? [])) ?? badSession(c, session);
    if (refused !== null) return refusalAnswer(c, refused, new Map());
    if (ids == null) {
      const { answers, skipped } = await renewHeld(engine, reads, identity.tenantId, caller, { session, project });
      return c.json({
        ...(await bulkJson(c, answers, 'renewed')),
        ...(skipped.session > 0 && { skipped_other_session: skipped.session }),
        ...(skipped.reserved > 0 && { skipped_reserved: skipped.reserved }),
        ...(skipped.project > 0 && { skipped_other_project: skipped.project }),
      });
    }
    const { answers } = await executeBulk(engine, identity.tenantId, ids, (nodeId) => ({
      ...{ verb: 'renew', nodeId, caller, session, fence: null },
    }));
    return c.json(await bulkJson(c, answers, 'renewed'));
  });

  routes.post('/queue/release', async (c) => {
    const { session, project } = await readBody(c, heldBody);
    const identity = c.get('identity');
    const refused = badSession(c, session);
    if (refused !== null) return refusalAnswer(c, refused, new Map());
    const { answers } = await releaseHeld(engine, reads, identity.tenantId, callerOf(identity), { session, project });
    const released = answers
      .filter(({ outcome }) => outcome.kind === 'released' && outcome.ended)
      .map(({ nodeId }) => nodeId);
    return c.json({ ok: true, status: 'released', released, count: released.length });
  });

  async function tooMany(c: RestContext, ids: readonly string[]): Promise<Refusal | null> {
    return refuseTooMany('ids', ids, (await readPolicy(reads, c.get('identity').tenantId, null)).bulkMax);
  }

  /** One session for the whole call, so a bad one refuses the whole call. */
  function badSession(c: RestContext, session: string | null): Refusal | null {
    return refuseMalformed({ verb: 'renew', nodeId: 'any', caller: callerOf(c.get('identity')), session, fence: null });
  }

  async function bulkJson(
    c: RestContext,
    answers: readonly Answered[],
    word: 'claimed' | 'renewed',
  ): Promise<Record<string, unknown>> {
    const names = await namesOf(
      parts,
      c.get('identity'),
      answers.flatMap(({ outcome }) => leasesIn(outcome)),
    );
    const { landed, count, expiresInMs, reclaimed } = tallyOf(answers);
    const held = answers.flatMap(({ outcome }) => (outcome.kind === 'held' ? [outcome] : []));
    const failed = answers.flatMap(({ nodeId, outcome }) =>
      outcome.kind !== 'refused'
        ? []
        : [
            {
              node_id: nodeId,
              code: BULK_CODES[outcome.code] ?? outcome.code,
              message: outcome.message,
              ...(outcome.holder !== null && { holder: leaseJson(outcome.holder, names) }),
            },
          ],
    );
    return {
      ok: true,
      status: landed === 'all' ? word : landed === 'some' ? 'partial' : 'refused',
      count,
      [word]: held.map(({ lease }) => lease.nodeId),
      leases: held.map(({ lease }) => leaseJson(lease, names)),
      failed,
      ...(expiresInMs !== null && { expires_in_ms: expiresInMs }),
      ...(reclaimed.length > 0 && { reclaimed }),
    };
  }
  return routes;
}

/** What an item of a list calls a refusal where the single verb has another word. */
const BULK_CODES: Readonly<Partial<Record<Refusal['code'], string>>> = {
  conflict: 'already_claimed',
  invalid_input: 'invalid_id',
};
