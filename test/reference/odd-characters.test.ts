import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpServer, listen } from '../../src/http.ts';
import { eachDoor, useDoors } from '../support/both-doors.ts';
import { overGraphql } from '../support/verbs-over-graphql.ts';

/** B55: whatever is sent is refused in words or comes back exactly; nothing folds two names into one, nothing is 500. */
const doors = useDoors();
const both = eachDoor(doors);

const ODD = {
  NUL: 'a\u0000b',
  'half a surrogate pair': 'a\ud800b',
  'a right-to-left mark': 'a\u200fb',
  'an emoji': 'a😀b',
  'ten thousand letters': 'a'.repeat(10_000),
  'a quote': "a'b",
  'a backslash': 'a\\b',
  'a slash': 'a/b',
  'a newline': 'a\nb',
  'a per cent sign': 'a%b',
  'a composed accent': 'caf\u00e9',
  'a decomposed accent': 'cafe\u0301',
  'a capital': 'Ab',
  'a space': 'a b',
} as const;

/** What no session may have. */
const UNFIT = ['NUL', 'half a surrogate pair', 'ten thousand letters', 'a newline'];

describe.each(Object.entries(ODD))('B55: %s', (name, text) => {
  // A path has no form for half a pair; what comes nearest is among the paths below.
  const inPath: typeof both = text.isWellFormed()
    ? both
    : (title, assertion) => it(`${title}, over GraphQL`, () => assertion(overGraphql(doors()), doors()));

  inPath('in an id is invalid input', async (verbs) => {
    for (const answer of [
      await verbs.claim('ana', text),
      await verbs.renew('ana', text),
      await verbs.extend('ana', text, 1),
      await verbs.reserve('ana', text),
      await verbs.release('ana', text),
    ]) {
      expect(answer).toMatchObject({ code: 'invalid_input', lease: null });
    }
    expect(await verbs.setStatus('ana', text, 'done')).toMatchObject({ code: 'invalid_input' });
    expect(await verbs.read('ana', text)).toBeNull();
  });

  both('in a list of ids fails alone, and comes back exactly', async (verbs, rig) => {
    const node = await rig.node();
    expect(await verbs.claimMany('ana', [text, node])).toMatchObject({
      landed: [node],
      failed: [{ nodeId: text, code: 'invalid_input' }],
    });
  });

  both('in a session comes back exactly, or is invalid input', async (verbs, rig) => {
    const node = await rig.node();
    const answer = await verbs.claim('ana', node, { session: text, dispatch: text });
    if (!UNFIT.includes(name)) {
      expect(answer).toMatchObject({ lease: { session: text } });
      expect(await verbs.renewHeld('ana', { session: text })).toMatchObject({ landed: [node] });
    } else {
      expect(answer).toMatchObject({ code: 'invalid_input', field: 'session' });
      await expect(verbs.renewHeld('ana', { session: text })).rejects.toThrow('session must be');
    }
  });

  both('in a project or a status selects nothing and denies', async (verbs, rig) => {
    const node = await rig.node();
    await verbs.claim('ana', node);
    expect(await verbs.renewHeld('ana', { project: text })).toMatchObject({ count: 0, skipped: { project: 1 } });
    expect(await verbs.setStatus('ana', node, text)).toMatchObject({ code: 'transition_denied' });
  });

  it('in a title comes back exactly, or fails in words', async () => {
    const id = await doors().node();
    const nodes = [{ id, type: 'task', title: text, summary: text, body: text, extra: { note: text } }];
    const { body } = await doors().rest('admin', 'POST', '/v1/nodes', { nodes, if_exists: 'update' });
    const { data } = await doors().graphql('ana', `{ workNode(nodeId: "${id}") { title summary } }`);
    if (body.results[0].status === 'updated') {
      expect(data.workNode).toEqual({ title: text, summary: text });
      const seen = await doors().rest('ana', 'GET', `/v1/nodes/${id}`);
      expect(seen.body.frontmatter).toMatchObject({ title: text, note: text });
    } else {
      expect(text.isWellFormed() && !text.includes('\0')).toBe(false);
      expect(body.results).toMatchObject([{ id, status: 'failed', error: expect.stringContaining('title') }]);
    }
  });

  it('in what GraphQL reads by id finds nothing', async () => {
    const globalId = (type: string) => Buffer.from(`${type}:${text}`).toString('base64');
    const { data, errors } = await doors().graphql(
      'ana',
      'query ($id: ID!, $ids: [ID!]!) { workNode(nodeId: $id) { nodeId } lease(nodeId: $id) { nodeId } nodes(ids: $ids) { id } }',
      { id: text, ids: ['WorkNode', 'Lease', 'Person', 'Agent'].map(globalId) },
    );
    expect(errors).toBeUndefined();
    expect(data).toEqual({ workNode: null, lease: null, nodes: [null, null, null, null] });
  });

  it('in the id of a token to revoke is not found', async () => {
    const { errors } = await doors().graphql(
      'admin',
      'mutation ($id: ID!) { revokeToken(input: { id: $id }) { id } }',
      { id: text },
    );
    expect(errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
  });
});

both('B55: two spellings of one name stay two sessions', async (verbs, rig) => {
  const [composed, decomposed] = (await rig.nodes(2)) as [string, string];
  await verbs.claim('ana', composed, { session: ODD['a composed accent'] });
  await verbs.claim('ana', decomposed, { session: ODD['a decomposed accent'] });
  expect(await verbs.releaseHeld('ana', { session: ODD['a composed accent'] })).toMatchObject({ landed: [composed] });
});

describe('B55: a path over a socket', () => {
  let server: HttpServer;
  beforeAll(async () => {
    server = await listen((request) => doors().fetch(request), '127.0.0.1', 0);
  });
  afterAll(() => server.stop(0));

  const post = (path: string) =>
    fetch(server.url + path, { method: 'POST', headers: { Authorization: `Bearer ${doors().token('ana')}` } });

  it('is the id that it encodes', async () => {
    const node = await doors().node();
    const encoded = [...node].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');
    const answer = await post(`/v1/nodes/${encoded}/claim`);
    expect([answer.status, await answer.json()]).toMatchObject([200, { lease: { node_id: node } }]);
  });

  it.each(['%00', 'a%2Fb', '%E0%A4%A', '%ED%A0%80', '%F0%9F%98%80', '%', "it's", '%27%5C%0A', 'a;b', 'a%20', 'a+b'])(
    'of %s is refused as an id',
    async (id) => {
      const answer = await post(`/v1/nodes/${id}/claim`);
      expect([answer.status, await answer.json()]).toMatchObject([422, { error: { code: 'invalid_input' } }]);
    },
  );

  it.each(['/v1/nodes//claim', '/v1/nodes/a/b/claim', '/v1/a/../claim', '/v1/nodes/a/claim/', '/v1/'])(
    'of %s leads nowhere',
    async (path) => {
      const answer = await post(path);
      expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
    },
  );
});

it('an instant that no calendar has is refused in words', async () => {
  for (const expiresAt of [
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+14:00',
    '2031-02-30T00:00:00Z',
    'tomorrow',
    5,
  ]) {
    const { errors } = await doors().graphql(
      'admin',
      'mutation ($at: DateTime!) { createToken(input: { personId: "ana", expiresAt: $at }) { id } }',
      { at: expiresAt },
    );
    expect(errors).toMatchObject([{ extensions: { code: 'INVALID_INPUT' } }]);
  }
});
