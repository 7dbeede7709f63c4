/** One document for each mutation of leases, which selects all that its answer may hold. */

const LEASE =
  '{ nodeId by { personId name } agent { agentId } session claimedAt expiresAt expiresInMs reserved fence }';
const HELD = `status lease ${LEASE} expiresInMs renewAfterMs`;
const REFUSAL = '... on Refusal { code message nodeId } ... on InvalidInput { field }';
const CONFLICT = `... on LeaseConflict { holder ${LEASE} }`;
const LOST = `... on LeaseLost { holder ${LEASE} }`;
const LIMIT = '... on LeaseLimitReached { limit }';

/** What each single verb answers: its success and the refusals that are members of its union. */
const RESULTS = {
  Claim: `... on ClaimLeaseSuccess { ${HELD} edge } ${CONFLICT} ${LIMIT}`,
  Renew: `... on RenewLeaseSuccess { ${HELD} reclaimed } ${LOST} ${LIMIT}`,
  Extend: `... on ExtendLeaseSuccess { ${HELD} reclaimed cappedToMax claimTtlMaxMs } ${LOST} ${LIMIT}`,
  Reserve: `... on ReserveLeaseSuccess { ${HELD} reclaimed graceWindowMs } ${LOST} ${LIMIT}`,
  Release: `... on ReleaseLeaseSuccess { status nodeId edge } ${CONFLICT} ${LOST}`,
} as const;

type Verb = keyof typeof RESULTS;

const result = (verb: Verb): string => `__typename ${RESULTS[verb]} ${REFUSAL}`;
const skipped = 'skippedOtherSession skippedReserved skippedOtherProject';
const batch = (verb: Verb): string => `status count expiresInMs reclaimed ${skipped} results { ${result(verb)} }`;

const one = (verb: Verb): [string, string] =>
  document(`${verb.toLowerCase()}Lease`, `${verb}LeaseInput!`, result(verb));
const many = (verb: Verb): [string, string] =>
  document(`${verb.toLowerCase()}Leases`, `${verb}LeasesInput!`, batch(verb));

function document(field: string, input: string, selection: string): [string, string] {
  return [field, `mutation ($input: ${input}) { ${field}(input: $input) { ${selection} } }`];
}

const VERBS = Object.keys(RESULTS) as Verb[];

export const DOCUMENTS: Readonly<Record<string, string>> = Object.fromEntries([
  ...VERBS.map(one),
  ...VERBS.map(many),
  document('renewHeldLeases', 'RenewHeldLeasesInput', batch('Renew')),
  document('releaseHeldLeases', 'ReleaseHeldLeasesInput', batch('Release')),
  document(
    'setNodeStatus',
    'SetNodeStatusInput!',
    `__typename ${REFUSAL} ... on SetNodeStatusSuccess {
       status revision warnings node { nodeId status revision } claim { ${result('Claim')} } }`,
  ),
]);

export const NODE = `query ($nodeId: ID!) {
  workNode(nodeId: $nodeId) {
    nodeId type title status project revision lease ${LEASE} assignees { personId } edges { type to }
  }
}`;
