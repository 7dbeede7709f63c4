import { expect, it } from 'vitest';
import { useDoors } from '../support/both-doors.ts';

/** The names that the contract fixes, with their types, as introspection tells them. */
const doors = useDoors();

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  ClaimLeaseInput: ['nodeId: ID!', 'session: String', 'dispatch: String', 'force: Boolean'],
  RenewLeaseInput: ['nodeId: ID!', 'session: String', 'fence: String'],
  ReserveLeaseInput: ['nodeId: ID!', 'session: String', 'fence: String'],
  ExtendLeaseInput: ['nodeId: ID!', 'ms: Float!', 'session: String', 'fence: String'],
  ReleaseLeaseInput: ['nodeId: ID!', 'fence: String'],
  SetNodeStatusInput: ['nodeId: ID!', 'status: String!'],
  ClaimLeasesInput: ['nodeIds: [ID!]!', 'session: String'],
  RenewLeasesInput: ['nodeIds: [ID!]!', 'session: String'],
  ReserveLeasesInput: ['nodeIds: [ID!]!', 'session: String'],
  ExtendLeasesInput: ['nodeIds: [ID!]!', 'ms: Float!', 'session: String'],
  ReleaseLeasesInput: ['nodeIds: [ID!]!'],
  RenewHeldLeasesInput: ['session: String', 'project: String'],
  ReleaseHeldLeasesInput: ['session: String', 'project: String'],
  CreatePersonInput: ['id: ID!', 'name: String!', 'email: String'],
  CreateAgentInput: ['id: ID!', 'ownerId: ID!', 'label: String'],
  RevokeTokenInput: ['id: ID!'],
  ClaimLeaseSuccess: [
    ...['status: VerbStatus!', 'lease: Lease!', 'expiresInMs: Float!', 'renewAfterMs: Float', 'edge: EdgeChange!'],
  ],
  RenewLeaseSuccess: ['reclaimed: Boolean!', 'renewAfterMs: Float'],
  ExtendLeaseSuccess: ['reclaimed: Boolean!', 'cappedToMax: Boolean!', 'claimTtlMaxMs: Float'],
  ReserveLeaseSuccess: ['reclaimed: Boolean!', 'graceWindowMs: Float!', 'renewAfterMs: Float'],
  ReleaseLeaseSuccess: ['status: VerbStatus!', 'nodeId: ID!', 'edge: EdgeChange!'],
  SetNodeStatusSuccess: [
    ...['nodeId: ID!', 'revision: String!', 'status: VerbStatus!', 'node: WorkNode!', 'warnings: [String!]!'],
    'claim: ClaimLeaseResult',
  ],
  ClaimLeasesPayload: [
    ...['status: BulkStatus!', 'count: Int!', 'expiresInMs: Float', 'results: [ClaimLeaseResult!]!'],
    ...['reclaimed: [ID!]!', 'skippedOtherSession: Int!', 'skippedReserved: Int!', 'skippedOtherProject: Int!'],
  ],
  RenewHeldLeasesPayload: ['results: [RenewLeaseResult!]!', 'skippedOtherSession: Int!'],
  ReleaseHeldLeasesPayload: ['results: [ReleaseLeaseResult!]!'],
  Refusal: ['code: RefusalCode!', 'message: String!', 'nodeId: ID!'],
  LeaseConflict: ['holder: Lease'],
  LeaseLost: ['holder: Lease'],
  LeaseLimitReached: ['limit: Int!'],
  Viewer: ['person: Person!', 'agent: Agent', 'isAdmin: Boolean!'],
  WorkNode: [
    ...['id: ID!', 'nodeId: ID!', 'type: String!', 'title: String', 'status: String!', 'project: String'],
    ...['priority: String', 'summary: String', 'revision: String!', 'lease: Lease', 'assignees: [Person!]!'],
    'edges: [GraphEdge!]!',
  ],
  Lease: [
    ...['id: ID!', 'nodeId: ID!', 'node: WorkNode!', 'by: Person!', 'agent: Agent', 'session: String'],
    ...['claimedAt: DateTime!', 'expiresAt: DateTime!', 'expiresInMs: Float!', 'reserved: Boolean!', 'fence: String!'],
  ],
  Person: ['id: ID!', 'personId: ID!', 'name: String!', 'email: String'],
};

const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  VerbStatus: ['CLAIMED', 'RENEWED', 'EXTENDED', 'RESERVED', 'RELEASED', 'UPDATED'],
  BulkStatus: ['CLAIMED', 'RENEWED', 'EXTENDED', 'RESERVED', 'RELEASED', 'PARTIAL', 'REFUSED', 'EMPTY'],
  EdgeChange: ['ADDED', 'SKIPPED', 'REMOVED'],
  RefusalCode: [
    ...['CONFLICT', 'LEASE_LOST', 'NOT_FOUND', 'NOT_READY', 'INVALID_NODE', 'INVALID_INPUT', 'TRANSITION_DENIED'],
    'LIMIT_REACHED',
  ],
  ClaimLeaseResult: granting('ClaimLeaseSuccess', 'LeaseConflict'),
  RenewLeaseResult: granting('RenewLeaseSuccess', 'LeaseLost'),
  ExtendLeaseResult: granting('ExtendLeaseSuccess', 'LeaseLost'),
  ReserveLeaseResult: granting('ReserveLeaseSuccess', 'LeaseLost'),
  ReleaseLeaseResult: [
    ...['ReleaseLeaseSuccess', 'LeaseConflict', 'LeaseLost', 'NodeNotFound', 'NodeNotLeasable', 'InvalidInput'],
  ],
  SetNodeStatusResult: ['SetNodeStatusSuccess', 'NodeNotFound', 'TransitionDenied', 'InvalidInput'],
};

function granting(success: string, held: string): string[] {
  return [success, held, 'NodeNotFound', 'NodeNotReady', 'NodeNotLeasable', 'InvalidInput', 'LeaseLimitReached'];
}

interface TypeRef {
  readonly kind: string;
  readonly name: string | null;
  readonly ofType?: TypeRef | null;
}

function written({ kind, name, ofType }: TypeRef): string {
  if (ofType == null) return name ?? '';
  return kind === 'NON_NULL' ? `${written(ofType)}!` : `[${written(ofType)}]`;
}

const TYPE = 'type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }';
const LOOK = `query ($name: String!) { __type(name: $name) {
  inputFields { name ${TYPE} } fields { name ${TYPE} } enumValues { name } possibleTypes { name }
} }`;

async function look(name: string) {
  const { data } = await doors().graphql('ana', LOOK, { name });
  return data.__type;
}

it.each(Object.entries(FIELDS))('%s has its fields', async (name, fields) => {
  const found = await look(name);
  const told = (found?.inputFields ?? found?.fields ?? []).map(
    (field: { name: string; type: TypeRef }) => `${field.name}: ${written(field.type)}`,
  );
  expect(told).toEqual(expect.arrayContaining([...fields]));
  if (name.endsWith('Input')) expect(told.length).toBe(fields.length);
});

it.each(Object.entries(MEMBERS))('%s has its members', async (name, members) => {
  const found = await look(name);
  const told = (found?.enumValues ?? found?.possibleTypes ?? []).map((member: { name: string }) => member.name);
  expect(told.sort()).toEqual([...members].sort());
});

it('every verb is a mutation of its name, with one input', async () => {
  const { data } = await doors().graphql(
    'ana',
    `{ __schema { mutationType { fields { name args { name ${TYPE} } } } } }`,
  );
  const mutations: { name: string; args: { name: string; type: TypeRef }[] }[] = data.__schema.mutationType.fields;
  for (const { name, args } of mutations) {
    const input = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
    expect(args.map((arg) => `${arg.name}: ${written(arg.type).replace('!', '')}`)).toEqual([`input: ${input}`]);
  }
  expect(mutations.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      ...['claimLease', 'renewLease', 'extendLease', 'reserveLease', 'releaseLease', 'setNodeStatus'],
      ...['claimLeases', 'renewLeases', 'extendLeases', 'reserveLeases', 'releaseLeases'],
      ...['renewHeldLeases', 'releaseHeldLeases', 'createPerson', 'createAgent', 'createToken', 'revokeToken'],
      'createWorkNodes',
    ]),
  );
});
