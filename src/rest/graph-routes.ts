import { z } from 'zod';
import { callerOf } from '../identity/authenticate.ts';
import type { Command } from '../lease/command.ts';
import type { EdgeSet, Outcome } from '../lease/outcome.ts';
import type { Refusal } from '../lease/refusal.ts';
import { optionalText } from './body.ts';
import { leasesIn, namesOf, nodeParams, type RestContext, type RestParts } from './door.ts';
import { refusalAnswer } from './errors.ts';
import type { Routes } from './routes.ts';
import { lease, leaseJson, nodeIdText } from './wire.ts';

/** What an admin does to the graph by hand: edges, and ending another's lease. */
const edgeBody = z.object({
  type: z.string('must be a string').describe('What the edge says, such as blocks.'),
  to: z.string('must be a string').describe('Where it ends; it need not exist yet.'),
});

const edgeAnswer = z
  .object({
    status: z.enum(['updated', 'skipped']).describe('Whether anything changed.'),
    id: nodeIdText.describe('The node where the edge begins.'),
    revision: z.string().describe('The revision of the node after it: a decimal number.'),
  })
  .meta({ id: 'EdgeSet', description: 'What became of the edge.' });

const breakBody = z.object({
  reason: optionalText
    .describe('Why, for the holder and for the history: a line.')
    .meta({ minLength: 1, maxLength: 1_000 }),
});

const breakAnswer = z
  .object({
    ok: z.literal(true).describe('Always true.'),
    status: z.literal('broken').describe('What was done.'),
    node_id: nodeIdText.describe('The node that is free now.'),
    lease: lease.optional().describe('The lease that was ended, as it last was; absent when nobody held the node.'),
  })
  .meta({ id: 'Broken', description: 'Nobody holds the node any more.' });

export function graphRoutes(routes: Routes, parts: RestParts): void {
  const path = '/v1/nodes/{id}/edges';
  const described = {
    path,
    tag: 'nodes',
    right: 'admin',
    params: nodeParams,
    body: edgeBody,
    answer: edgeAnswer,
  } as const;

  routes.add(
    { ...described, method: 'POST', name: 'addEdge', summary: 'Write an edge by hand.', errors: ['not_found'] },
    (c, { params: { id }, body }) =>
      setEdge(c, { verb: 'add-edge', nodeId: id, caller: callerOf(c.get('identity')), edge: { from: id, ...body } }),
  );
  routes.add(
    {
      ...{ ...described, method: 'DELETE', name: 'removeEdge', errors: ['not_found', 'conflict'] },
      summary: 'Take an edge away by hand, but for the assigned edge of a lease in force.',
    },
    (c, { params: { id }, body }) =>
      setEdge(c, { verb: 'remove-edge', nodeId: id, caller: callerOf(c.get('identity')), edge: { from: id, ...body } }),
  );
  routes.add(
    {
      ...{ method: 'POST', path: '/v1/nodes/{id}/break', name: 'breakLease', tag: 'leases', right: 'admin' },
      ...{ params: nodeParams, body: breakBody, answer: breakAnswer, errors: ['not_found', 'invalid_node'] },
      summary: "End another's lease at once, its assigned edge included.",
    },
    async (c, { params: { id }, body: { reason } }) => {
      const command: Command = { verb: 'break', nodeId: id, caller: callerOf(c.get('identity')), reason };
      const outcome = await run(c, command);
      if (outcome instanceof Response) return outcome;
      if (outcome.kind !== 'broken') throw new Error(`break answered ${outcome.kind}`);
      const ended = outcome.lease;
      const names = await namesOf(parts, c.get('identity'), ended === null ? [] : [ended]);
      return {
        ok: true,
        status: 'broken',
        node_id: id,
        ...(ended !== null && { lease: leaseJson(ended, names) }),
      } as const;
    },
  );

  async function setEdge(c: RestContext, command: Command): Promise<z.output<typeof edgeAnswer> | Response> {
    const outcome = await run(c, command);
    if (outcome instanceof Response) return outcome;
    if (outcome.kind !== 'edge-set') throw new Error(`${command.verb} answered ${outcome.kind}`);
    const { status, revision }: EdgeSet = outcome;
    return { status, id: command.nodeId, revision: String(revision) };
  }

  /** What came of a command; a refusal is the whole response. */
  async function run(c: RestContext, command: Command): Promise<Exclude<Outcome, Refusal> | Response> {
    const identity = c.get('identity');
    const outcome = await parts.engine.executeOne(identity.tenantId, command);
    if (outcome.kind !== 'refused') return outcome;
    return refusalAnswer(c, outcome, await namesOf(parts, identity, leasesIn(outcome)));
  }
}
