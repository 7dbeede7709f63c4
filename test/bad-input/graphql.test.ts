import fc from 'fast-check';
import '../support/seed.ts';
import { getIntrospectionQuery, isInputObjectType, isNonNullType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';
import { createDoorsRig, type Doors, ORIGIN } from '../support/doors.ts';
import { anyJson, objectOf, oddText } from './any-json.ts';
import { fingerprint } from './fingerprint.ts';

/** Whatever is sent to the GraphQL door gets a typed answer, never a fault of ours, and a bad call changes nothing. */
let doors: Doors;
let id: string;
beforeAll(async () => {
  doors = await createDoorsRig();
  id = await doors.node();
  await doors.rest('bo', 'POST', `/v1/nodes/${id}/claim`);
});
afterAll(() => doors.close());

const MUTATIONS = Object.values(schema.getMutationType()?.getFields() ?? {});

/** Errors that tell of the document or of its values. */
function judge(errors: readonly { message: string; extensions?: { code?: string } }[] | undefined): void {
  for (const error of errors ?? []) {
    expect(error.extensions?.code).not.toBe('INTERNAL');
    expect(error.extensions?.code).not.toBe('INTERNAL_SERVER_ERROR');
    expect(error.extensions?.code).not.toBe('UNAVAILABLE');
    expect(error.message).toMatch(/\S/);
  }
}

describe('input of anything', () => {
  it.each(MUTATIONS.map(({ name, args }) => [name, args[0]] as const))('to %s', async (name, arg) => {
    const type = arg?.type;
    const input = isNonNullType(type) ? type.ofType : type;
    const fields = isInputObjectType(input) ? Object.keys(input.getFields()) : [];
    const document = `mutation ($input: ${type}) { ${name}(input: $input) { __typename } }`;
    const given = objectOf(fields).map((some) => (fields.includes('nodeId') ? { nodeId: id, ...some } : some));
    await fc.assert(
      fc.asyncProperty(fc.oneof({ weight: 4, arbitrary: given }, { weight: 1, arbitrary: anyJson }), async (value) => {
        const before = await fingerprint(doors);
        const { errors, data } = await doors.graphql('admin', document, { input: value });
        judge(errors);
        const done = /(Success|Payload)$/.test(data?.[name]?.__typename ?? '');
        if (!done) expect(await fingerprint(doors)).toBe(before);
      }),
      { numRuns: 60 },
    );
  });

  it('to every argument of every query', async () => {
    for (const { name, args } of Object.values(schema.getQueryType()?.getFields() ?? {})) {
      const variables = args.map((arg) => `$${arg.name}: ${arg.type}`).join(', ');
      const passed = args.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
      if (args.length === 0) continue;
      const document = `query (${variables}) { ${name}(${passed}) { __typename } }`;
      const given = objectOf(args.map((arg) => arg.name));
      await fc.assert(
        fc.asyncProperty(given, async (values) => judge((await doors.graphql('admin', document, values)).errors)),
        { numRuns: 40 },
      );
    }
  });
});

describe('text that can not be stored', () => {
  const ODD = ['\0', 'a\0b', '\ud800', ''];
  const queries = Object.values(schema.getQueryType()?.getFields() ?? {}).filter(({ args }) => args.length > 0);

  it.each(queries.map(({ name, args }) => [name, args] as const))('in every place of %s', async (name, args) => {
    const variables = args.map((arg) => `$${arg.name}: ${arg.type}`).join(', ');
    const passed = args.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
    const document = `query (${variables}) { ${name}(${passed}) { __typename } }`;
    const values = args.flatMap((arg): Record<string, unknown>[] => {
      const type = isNonNullType(arg.type) ? arg.type.ofType : arg.type;
      const odd = ODD.flatMap((text) => [text, [text]]);
      if (!isInputObjectType(type)) return odd.map((given) => ({ [arg.name]: given }));
      return Object.keys(type.getFields()).flatMap((place) => odd.map((given) => ({ [arg.name]: { [place]: given } })));
    });
    for (const value of values) judge((await doors.graphql('admin', document, value)).errors);
  });
});

describe('a document', () => {
  it('of anything', async () => {
    await fc.assert(
      fc.asyncProperty(oddText, async (document) => judge((await doors.graphql('ana', document)).errors)),
      { numRuns: 100 },
    );
  });

  it('cut off anywhere', async () => {
    const whole = `mutation { claimLease(input: { nodeId: "${id}" }) { ... on Refusal { message } } }`;
    for (let length = 1; length < whole.length; length += 3)
      judge((await doors.graphql('ana', whole.slice(0, length))).errors);
  });

  it('that asks for the whole schema is a document like any other', async () => {
    judge((await doors.graphql('ana', getIntrospectionQuery())).errors);
  });
});

it('a body of anything is answered below 500', async () => {
  const Authorization = `Bearer ${doors.token('ana')}`;
  const types = fc.constantFrom(
    'application/json',
    'application/graphql',
    'text/plain',
    'application/x-www-form-urlencoded',
  );
  const bodies = fc.oneof(
    anyJson.map((value) => JSON.stringify(value)),
    fc.string({ unit: 'binary' }).map((text) => text.toWellFormed()),
  );
  await fc.assert(
    fc.asyncProperty(bodies, types, async (body, type) => {
      const headers = { Authorization, 'Content-Type': type };
      const answer = await doors.fetch(new Request(`${ORIGIN}/graphql`, { method: 'POST', headers, body }));
      expect(answer.status).toBeLessThan(500);
    }),
    { numRuns: 150 },
  );
});
