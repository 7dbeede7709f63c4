import type { GraphqlAnswer, RestAnswer } from '../support/doors.ts';

/** The verbs as both doors have them, and their answers in one form. */
export interface Verb {
  readonly rest: { readonly path: string; readonly body: object };
  readonly graphql: { readonly field: string; readonly input: object };
}

const SUCCESS: Readonly<Record<string, string>> = {
  claimLease: 'edge',
  renewLease: 'reclaimed',
  extendLease: 'reclaimed cappedToMax claimTtlMaxMs',
  reserveLease: 'reclaimed graceWindowMs',
};

const LEASE = 'lease { by { personId name } agent { agentId } session claimedAt expiresAt expiresInMs reserved fence }';
const HOLDER = `holder ${LEASE.slice('lease '.length)}`;
const REFUSAL = '... on Refusal { code message } ... on InvalidInput { field }';
const MEMBERS: Readonly<Record<string, string>> = {
  claimLease: `... on LeaseConflict { ${HOLDER} } ... on LeaseLimitReached { limit }`,
  releaseLease: `... on LeaseConflict { ${HOLDER} } ... on LeaseLost { ${HOLDER} }`,
  setNodeStatus: '',
};
const TAKING = `... on LeaseLost { ${HOLDER} } ... on LeaseLimitReached { limit }`;
const CLAIMED = `... on ClaimLeaseSuccess { status expiresInMs renewAfterMs edge ${LEASE} } ${MEMBERS.claimLease}`;

/** The document of a verb's mutation, which selects all there is. */
export function documentOf(field: string): string {
  const type = `${field[0]?.toUpperCase()}${field.slice(1)}`;
  const members =
    field === 'setNodeStatus'
      ? `... on SetNodeStatusSuccess { status nodeId revision warnings claim { ${CLAIMED} ${REFUSAL} } }`
      : field === 'releaseLease'
        ? '... on ReleaseLeaseSuccess { status nodeId edge }'
        : `... on ${type}Success { status expiresInMs renewAfterMs ${SUCCESS[field]} ${LEASE} }`;
  return `mutation ($input: ${type}Input!) { answer: ${field}(input: $input) { ${members} ${MEMBERS[field] ?? TAKING} ${REFUSAL} } }`;
}

const verb =
  (path: string, field: string) =>
  (body: Record<string, unknown>): Verb => ({
    rest: { path, body },
    graphql: { field, input: body },
  });
const claim = verb('claim', 'claimLease');
const renew = verb('renew', 'renewLease');
const extend = verb('extend', 'extendLease');
const reserve = verb('reserve', 'reserveLease');
const release = verb('release', 'releaseLease');
const status = verb('status', 'setNodeStatus');

export const VERBS: Readonly<Record<string, Verb>> = {
  claim: claim({}),
  'claim in a session': claim({ session: 's2' }),
  'claim with an empty session': claim({ session: '' }),
  'claim by launch d1': claim({ dispatch: 'd1' }),
  'claim by launch d2': claim({ dispatch: 'd2' }),
  'claim by launch d2, forced': claim({ dispatch: 'd2', force: true }),
  'claim, forced without a launch': claim({ force: true }),
  renew: renew({}),
  'renew in a session': renew({ session: 's2' }),
  'renew with its fence': renew({ fence: '7' }),
  'renew with an old fence': renew({ fence: '6' }),
  'renew with a fence beyond all': renew({ fence: '99999999999999999999' }),
  'renew with no fence at all': renew({ fence: 'seven' }),
  'renew with a control character': renew({ session: 's\n' }),
  'extend a little': extend({ ms: 0.5 }),
  'extend by an hour': extend({ ms: 3_600_000, session: 's2' }),
  'extend past the ceiling': extend({ ms: 1e300 }),
  'extend by nothing': extend({ ms: 0 }),
  'extend backwards': extend({ ms: -1 }),
  'extend with an old fence': extend({ ms: 1_000, fence: '6' }),
  reserve: reserve({}),
  'reserve in a session': reserve({ session: 's2' }),
  'reserve with its fence': reserve({ fence: '7' }),
  'reserve with an old fence': reserve({ fence: '6' }),
  release: release({}),
  'release with its fence': release({ fence: '7' }),
  'release with an old fence': release({ fence: '6' }),
  'set in progress': status({ status: 'in-progress' }),
  'set open': status({ status: 'open' }),
  'set done': status({ status: 'done' }),
  'set to no word of a task': status({ status: 'resolved' }),
};

/** One form for the answers of both doors; what only one of them has is left out. */
// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever JSON the server sent; equality says what it should be.
type Json = any;

const lease = (one: Json) =>
  one && {
    by: one.by.personId ?? one.by,
    name: one.by.name ?? one.by_name,
    agent: one.agent?.agentId ?? one.agent ?? null,
    session: one.session,
    claimedAt: one.claimedAt ?? one.claimed_at,
    expiresAt: one.expiresAt ?? one.expires_at,
    reserved: one.reserved ?? false,
    fence: one.fence,
  };

export function fromRest({ status: http, body }: RestAnswer): Json {
  if (http !== 200) return refused(body.error.code, body.error.message, body.holder, body.error.details);
  if (body.status === 'updated') {
    return { status: 'updated', revision: body.revision, warnings: body.warnings, claim: claimOf(body) };
  }
  return succeeded(body.status, body, {
    edge: body.edge,
    reclaimed: body.reclaimed,
    capped: body.claim_ttl_max_ms,
    grace: body.grace_window_ms,
    left: body.expires_in_ms,
    wants: body.renew_after_ms,
  });
}

export function fromGraphql({ data, errors }: GraphqlAnswer): Json {
  if (errors !== undefined) return { errors };
  const { answer } = data;
  if (answer.code !== undefined) return refused(answer.code.toLowerCase(), answer.message, answer.holder, answer);
  if (answer.status === 'UPDATED') {
    const { revision, warnings, claim: made } = answer;
    const told =
      made === null
        ? null
        : made.code === undefined
          ? lease(made.lease)
          : errorOf(made.code.toLowerCase(), made.holder?.by.personId);
    return { status: 'updated', revision, warnings, claim: told };
  }
  return succeeded(answer.status.toLowerCase(), answer, {
    edge: answer.edge?.toLowerCase(),
    reclaimed: answer.reclaimed,
    capped: answer.claimTtlMaxMs,
    grace: answer.graceWindowMs,
    left: answer.expiresInMs,
    wants: answer.renewAfterMs,
  });
}

function refused(code: string, message: string, holder: Json, details: Json) {
  return {
    code,
    message,
    holder: lease(holder) ?? null,
    field: details?.field === 'id' ? 'nodeId' : (details?.field ?? null),
    limit: details?.limit ?? null,
  };
}

const errorOf = (code: string, holder: string | undefined) => ({
  error: code === 'conflict' ? 'already_claimed' : code,
  ...(holder !== undefined && { holder }),
});

/** The lease that a status change claimed, or why it did not. */
function claimOf(body: Json) {
  if (body.lease === undefined) return null;
  return body.lease.error === undefined ? lease(body.lease) : errorOf(body.lease.error, body.lease.holder);
}

function succeeded(status: string, answer: Json, { edge, reclaimed, capped, grace, left, wants }: Json) {
  return {
    status,
    lease: lease(answer.lease) ?? null,
    edge: edge ?? null,
    reclaimed: reclaimed ?? false,
    capped: capped ?? null,
    grace: grace ?? null,
    left: left ?? null,
    // The dice differ from call to call; that both ask for a heartbeat, and in time, is what must agree.
    wantsHeartbeat: wants == null ? null : wants >= left / 3 - 1 && wants <= left / 2,
  };
}
