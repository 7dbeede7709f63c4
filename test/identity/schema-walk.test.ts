import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLOutputType,
  getNamedType,
  getNullableType,
  isAbstractType,
  isInputObjectType,
  isLeafType,
  isListType,
  isObjectType,
} from 'graphql';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';
import { createToken } from '../../src/identity/tokens.ts';
import { createDoorsRig, type Doors, OTHER_TENANT } from '../support/doors.ts';
import { connectTo } from '../support/rig.ts';

/**
 * A walk through the whole schema as an admin of another tenant, with the ids of things that are there next door and
 * with ids of things that are nowhere: every answer is the same but for the ids.
 */
type World = Readonly<Record<'node' | 'person' | 'agent' | 'token' | 'session' | 'project', string>>;

let doors: Doors;
let there: World;
const nowhere: World = {
  node: 'n-none',
  person: 'nobody',
  agent: 'no-agent',
  token: 'tok-none',
  session: 's-none',
  project: 'p-none',
};

beforeAll(async () => {
  doors = await createDoorsRig();
  const clients = connectTo(doors.database.url, 2);
  const input = { personId: 'zoe', agentId: null, label: null, expiresAt: null, admin: true };
  doors.introduce('zoe', (await createToken(clients.reads, OTHER_TENANT, input)).token);
  await clients.close();
  const node = await doors.node({ project: 'secret-project' });
  await doors.rest('ana-one', 'POST', `/v1/nodes/${node}/claim`, { session: 'secret-session' });
  const [row] = await doors.database.sql<{ token_id: string }>(
    `SELECT token_id FROM api_token WHERE tenant_id = 'acme' LIMIT 1`,
  );
  there = {
    node,
    person: 'ana',
    agent: 'ana-one',
    token: row?.token_id ?? '',
    session: 'secret-session',
    project: 'secret-project',
  };
});
afterAll(() => doors.close());

/** What is made changes what is found, so the making comes last. */
const MAKING = /^(create|set|add)/;
const fields = [
  ...Object.values(schema.getQueryType()?.getFields() ?? {}).map((field) => ['query', field] as const),
  ...Object.values(schema.getMutationType()?.getFields() ?? {}).map((field) => ['mutation', field] as const),
].sort(([, a], [, b]) => Number(MAKING.test(a.name)) - Number(MAKING.test(b.name)));

it.each(fields.map(([kind, field]) => [field.name, kind, field] as const))(
  '%s finds nothing next door',
  async (_name, kind, field) => {
    const said = async (world: World): Promise<string> => {
      const { data, errors } = await doors.graphql(
        'zoe',
        documentOf(kind, field),
        valuesOf(field.args, world, field.name),
      );
      let text = JSON.stringify({ data, errors: errors?.map(({ message, extensions }) => ({ message, extensions })) });
      // The longest first: one id may begin with another.
      for (const [what, id] of Object.entries(world).sort(([, a], [, b]) => b.length - a.length)) {
        text = text.replaceAll(id, `<${what}>`);
        for (const type of ['WorkNode', 'Lease', 'Person', 'Agent']) {
          text = text.replaceAll(globalId(type, id), `<${type} ${what}>`);
        }
      }
      // A secret, a new token's id, the dice of a heartbeat and the time of the answer differ from call to call.
      return text.replaceAll(/hf_\w+_[\w-]{43}|tok-[0-9a-f]{16}|(serverTime|renewAfterMs)":("[^"]+"|\d+)/g, '<new>');
    };
    expect(await said(there)).toBe(await said(nowhere));
  },
);

it('and changes nothing next door', async () => {
  const [row] = await doors.database.sql<{ holder: string; events: string; people: string }>(
    `SELECT (SELECT holder FROM lease WHERE tenant_id = 'acme' AND node_id = $1) AS holder,
            (SELECT count(*) FROM lease_event WHERE tenant_id = 'acme') AS events,
            (SELECT count(*) FROM person WHERE tenant_id = 'acme') AS people`,
    there.node,
  );
  expect(row).toEqual({ holder: 'ana', events: '1', people: '5' });
});

const globalId = (type: string, id: string) => Buffer.from(`${type}:${id}`).toString('base64');

function documentOf(kind: 'query' | 'mutation', field: GraphQLField<unknown, unknown>): string {
  const variables = field.args.map(({ name, type }) => `$${name}: ${type}`).join(', ');
  const passed = field.args.map(({ name }) => `${name}: $${name}`).join(', ');
  const [declared, given] = field.args.length === 0 ? ['', ''] : [`(${variables})`, `(${passed})`];
  return `${kind} ${declared} { ${field.name}${given} ${selectionOf(field.type, 4)} }`;
}

/** Everything there is, to a depth. */
function selectionOf(type: GraphQLOutputType, depth: number): string {
  const named = getNamedType(type);
  if (isLeafType(named)) return '';
  if (isAbstractType(named)) {
    const members = schema
      .getPossibleTypes(named)
      .map((member) => `... on ${member.name} ${selectionOf(member, depth)}`);
    return `{ __typename ${members.join(' ')} }`;
  }
  const inner = Object.values((isObjectType(named) && named.getFields()) || {})
    .filter((field) => field.args.length === 0 && (depth > 1 || isLeafType(getNamedType(field.type))))
    // A field of the same name may have another type on another member of a union.
    .map((field) => `${aliasOf(named.name, field.name)}: ${field.name} ${selectionOf(field.type, depth - 1)}`);
  return `{ __typename ${inner.join(' ')} }`;
}

const aliasOf = (type: string, field: string) => `${type}_${field}`;

type Slots = readonly (GraphQLArgument | GraphQLInputField)[];

function valuesOf(slots: Slots, world: World, field: string): Record<string, unknown> {
  return Object.fromEntries(slots.map(({ name, type }) => [name, sampleOf(name, type, world, field)]));
}

/** A value that names something of that world, by what the argument is called. */
function sampleOf(name: string, type: GraphQLInputType, world: World, field: string): unknown {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return [sampleOf(name.replace(/s$/, ''), nullable.ofType, world, field)];
  if (isInputObjectType(nullable)) return valuesOf(Object.values(nullable.getFields()), world, field);
  const known: Record<string, unknown> = {
    nodeId: world.node,
    from: world.node,
    to: world.person,
    personId: world.person,
    assigneeId: world.person,
    ownerId: world.person,
    agentId: world.agent,
    session: world.session,
    project: world.project,
    stewardId: world.person,
    type: 'task',
    status: 'open',
    id: idFor(field, world),
    name: 'Somebody',
    ms: 1_000,
    first: 5,
    expiringWithinMs: 1e12,
  };
  return name in known && String(nullable) !== 'Boolean' ? known[name] : undefined;
}

/** What `id` names, by the field that takes it. */
function idFor(field: string, world: World): string {
  if (field === 'node' || field === 'nodes') return globalId('Lease', world.node);
  if (field === 'revokeToken') return world.token;
  return field === 'disablePerson' ? world.person : world.node;
}
