import { describe, expect, it } from 'vitest';
import { TERMINAL_STATUSES, WORK_TYPES } from '../../src/lease/node-status.ts';
import { eachDoor, useDoors } from '../support/both-doors.ts';

/** Setting a node's status. */
const doors = useDoors();
const both = eachDoor(doors);

describe('the claim that comes with a status', () => {
  for (const status of ['active', 'open', 'in-progress']) {
    both(`${status} claims`, async (verbs, rig) => {
      const node = await rig.node({ type: 'incident', status: 'closed' });
      expect(await verbs.setStatus('ana', node, status)).toMatchObject({
        status: 'updated',
        revision: '2',
        warnings: [],
        claim: { lease: { by: 'ana', nodeId: node } },
      });
      expect(await verbs.read('bo', node)).toMatchObject({ status, assigned: ['ana'], lease: { by: 'ana' } });
    });
  }

  both('that is refused leaves the status standing, and names who holds the node', async (verbs, rig) => {
    const node = await rig.node();
    const { lease } = await verbs.claim('ana', node);
    const answer = await verbs.setStatus('bo', node, 'active');
    expect(answer).toMatchObject({ status: 'updated', claim: { code: 'conflict', holder: 'ana' } });
    expect(answer.warnings?.[0]).toContain('ana');
    expect(await verbs.read('bo', node)).toMatchObject({ status: 'active', lease, assigned: ['ana'] });
  });

  both('that meets the limit says so', async (verbs, rig) => {
    await rig.policy({ held_max: 1 });
    await verbs.claim('cleo', await rig.node());
    const node = await rig.node();
    expect(await verbs.setStatus('cleo', node, 'active')).toMatchObject({
      status: 'updated',
      claim: { code: 'limit_reached', holder: null },
    });
  });

  both('is absent for a type without lease', async (verbs, rig) => {
    const note = await rig.node({ type: 'note' });
    expect(await verbs.setStatus('ana', note, 'active')).toMatchObject({ status: 'updated', claim: null });
  });

  it('is in words of its own over REST', async () => {
    const node = await doors().node();
    const path = `/v1/nodes/${node}/status`;
    const { body } = await doors().rest('ana', 'POST', path, { status: 'active' });
    expect(body).toMatchObject({ status: 'updated', id: node, revision: '2', warnings: [], lease: { node_id: node } });
    const refused = await doors().rest('bo', 'POST', path, { status: 'in-progress' });
    expect([refused.status, refused.body.lease]).toEqual([200, { error: 'already_claimed', holder: 'ana' }]);
    const done = await doors().rest('bo', 'POST', path, { status: 'done' });
    expect(done.body).not.toHaveProperty('lease');
  });
});

describe('a terminal status', () => {
  both('leaves lease and edge as they are, whoever sets it', async (verbs, rig) => {
    const node = await rig.node({ type: 'finding' });
    const { lease } = await verbs.claim('ana', node);
    for (const status of TERMINAL_STATUSES) {
      expect(await verbs.setStatus('bo', node, status)).toMatchObject({ status: 'updated', claim: null });
    }
    expect(await verbs.read('bo', node)).toMatchObject({ lease, assigned: ['ana'] });
  });

  both('set again changes nothing', async (verbs, rig) => {
    const node = await rig.node();
    const first = await verbs.setStatus('ana', node, 'done');
    expect(await verbs.setStatus('ana', node, 'done')).toMatchObject({ status: 'updated', revision: first.revision });
  });
});

describe('the vocabulary', () => {
  const WORDS: Readonly<Record<string, readonly string[]>> = {
    task: ['open', 'active', 'in-progress', 'done', 'abandoned'],
    issue: ['open', 'active', 'in-progress', 'resolved'],
    question: ['open', 'answered'],
  };
  const every = ['open', 'active', 'in-progress', ...TERMINAL_STATUSES, 'waiting', ''];
  for (const type of WORK_TYPES) {
    both(`of ${type}`, async (verbs, rig) => {
      const node = await rig.node({ type });
      const allowed = WORDS[type] ?? every.slice(0, -2);
      for (const status of every) {
        const code = allowed.includes(status) ? null : 'transition_denied';
        expect(await verbs.setStatus('ana', node, status)).toMatchObject({ code });
      }
    });
  }

  both('of other types is any plain word', async (verbs, rig) => {
    const note = await rig.node({ type: 'note' });
    expect(await verbs.setStatus('ana', note, 'half-done-2')).toMatchObject({ code: null, status: 'updated' });
    for (const status of ['Half', '-x', 'ä', 'a b', '']) {
      expect(await verbs.setStatus('ana', note, status)).toMatchObject({ code: 'transition_denied' });
    }
  });

  both('does not bind what is created, and creation claims nothing', async (verbs, rig) => {
    const nodes = [{ id: 'stored-as-given', type: 'task', status: 'Waiting for Bo' }];
    await rig.rest('admin', 'POST', '/v1/nodes', { nodes, if_exists: 'skip' });
    expect(await verbs.read('ana', 'stored-as-given')).toMatchObject({ status: 'Waiting for Bo', lease: null });
  });
});

it('without a status is refused', async () => {
  const node = await doors().node();
  for (const body of [{}, { status: null }, { status: 1 }]) {
    const { status, body: told } = await doors().rest('ana', 'POST', `/v1/nodes/${node}/status`, body);
    expect([status, told.error.code]).toEqual([422, 'invalid_input']);
  }
  const { errors } = await doors().graphql(
    'ana',
    `mutation { setNodeStatus(input: { nodeId: "${node}" }) { __typename } }`,
  );
  expect(errors).toMatchObject([{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }]);
});
