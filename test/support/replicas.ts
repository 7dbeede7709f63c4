import { expect } from 'vitest';
import { lookInto, type TestDatabase } from './database.ts';
import { startPostgres } from './postgres-server.ts';
import { callOnce, makePeople, makeTasks, type RestReply } from './rest-client.ts';
import { createProcessRig, type Environment, type ServerProcess } from './server-process.ts';

/** Two server processes on one PostgreSQL, with ana and bo and some tasks. */
export interface Replicas {
  readonly database: TestDatabase;
  readonly servers: readonly [ServerProcess, ServerProcess];
  /** A verb on a node, by one of the servers. */
  call(server: 0 | 1, person: string, nodeId: string, verb: string): Promise<RestReply>;
  setPolicy(settings: object): Promise<void>;
  /** Stops both and starts them again. */
  restart(): Promise<void>;
  /**
   * What both servers say of a node's lease, held against the row and the database's clock: the same end, and the time
   * that is left by that clock. @returns the time left; null when both say it has lapsed, which is then so
   */
  timeLeft(nodeId: string): Promise<number | null>;
  close(): Promise<void>;
}

const TOKEN = `hf_local_${'r'.repeat(43)}`;
const LEASE = 'query ($nodeId: ID!) { lease(nodeId: $nodeId) { expiresAt expiresInMs } }';

/** @param environments what each server has beside the database */
export async function startReplicas(
  nodes: readonly string[],
  environments: readonly [Environment, Environment] = [{}, {}],
): Promise<Replicas> {
  const rig = createProcessRig();
  const { url } = await startPostgres(rig);
  const environmentOf = (index: 0 | 1): Environment => ({
    ...{ DATABASE_URL: url, HOLDFAST_ADMIN_TOKEN: TOKEN },
    ...environments[index],
  });
  const start = () => Promise.all([rig.serve(environmentOf(0)), rig.serve(environmentOf(1))]);
  let servers = await start();
  const tokens = await makePeople(servers[0].url, TOKEN, ['ana', 'bo']);
  await makeTasks(servers[0].url, TOKEN, nodes);
  const database = lookInto(url);

  async function askLease(server: ServerProcess, nodeId: string): Promise<number | null> {
    const [row] = await database.sql<{ expires: number }>(
      'SELECT holdfast_ms(expires_at)::float8 AS expires FROM lease WHERE node_id = $1',
      nodeId,
    );
    const expires = row?.expires ?? 0;
    const before = await database.clock.now();
    const asked = { query: LEASE, variables: { nodeId } };
    const { body } = await callOnce(server.url, tokens.get('ana') as string, 'POST', '/graphql', asked);
    const after = await database.clock.now();
    const { lease } = body.data;
    if (lease === null) {
      expect(after).toBeGreaterThanOrEqual(expires);
      return null;
    }
    expect(Date.parse(lease.expiresAt)).toBe(expires);
    expect(lease.expiresInMs).toBeGreaterThanOrEqual(Math.max(1, expires - after));
    expect(lease.expiresInMs).toBeLessThanOrEqual(expires - before);
    return lease.expiresInMs;
  }

  return {
    database,
    get servers() {
      return servers;
    },
    call: (server, person, nodeId, verb) =>
      callOnce(servers[server].url, tokens.get(person) as string, 'POST', `/v1/nodes/${nodeId}/${verb}`),
    async setPolicy(input) {
      const query = 'mutation ($input: SetPolicyInput!) { setPolicy(input: $input) { __typename } }';
      const { body } = await callOnce(servers[0].url, TOKEN, 'POST', '/graphql', { query, variables: { input } });
      expect(body.errors).toBeUndefined();
    },
    async restart() {
      for (const server of servers) server.signal('SIGTERM');
      for (const server of servers) expect(await server.exited).toEqual({ code: 0, signal: null });
      servers = await start();
    },
    async timeLeft(nodeId) {
      const one = await askLease(servers[0], nodeId);
      const other = await askLease(servers[1], nodeId);
      // The second was asked later, so it can only have less.
      expect(other ?? 0).toBeLessThanOrEqual(one ?? 0);
      return other;
    },
    async close() {
      await database.drop();
      await rig.close();
    },
  };
}
