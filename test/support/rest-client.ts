import { Agent, request } from 'node:http';

/** REST calls over kept connections, many at once. */
export interface RestClient {
  /** @throws when the connection breaks before the answer is whole */
  call(token: string, method: 'GET' | 'POST', path: string, body?: unknown): Promise<RestReply>;
  close(): void;
}

export interface RestReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: whatever JSON the server sent; the assertion says what it should be.
  readonly body: any;
}

export function createRestClient(url: string, connections = 400): RestClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return {
    call(token, method, path, body) {
      return new Promise((answered, failed) => {
        const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
        const sent = request(`${url}${path}`, { agent, method, headers }, (answer) => {
          let text = '';
          answer.setEncoding('utf8');
          answer.on('data', (part: string) => {
            text += part;
          });
          answer.on('error', failed);
          answer.on('end', () => {
            answered({ status: answer.statusCode ?? 0, headers: answer.headers, body: parse(text) });
          });
        });
        sent.on('error', failed);
        sent.end(body === undefined ? undefined : JSON.stringify(body));
      });
    },
    close: () => agent.destroy(),
  };
}

/** The text itself where it is no JSON, so that an assertion shows it. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** One call, on a connection of its own. */
export async function callOnce(
  url: string,
  token: string,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
): Promise<RestReply> {
  const client = createRestClient(url, 1);
  try {
    return await client.call(token, method, path, body);
  } finally {
    client.close();
  }
}

/** People with a token each, made by an admin. @returns the tokens by person */
export async function makePeople(
  url: string,
  admin: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const client = createRestClient(url, 20);
  const graphql = async (query: string, variables: object) => {
    const { body } = await client.call(admin, 'POST', '/graphql', { query, variables });
    if (body.errors !== undefined) throw new Error(JSON.stringify(body.errors));
    return body.data;
  };
  try {
    const tokens = await Promise.all(
      ids.map(async (id) => {
        await graphql(PERSON, { input: { id, name: `Person ${id}` } });
        const { createToken } = await graphql(TOKEN, { input: { personId: id } });
        return [id, createToken.token as string] as const;
      }),
    );
    return new Map(tokens);
  } finally {
    client.close();
  }
}

const PERSON = 'mutation ($input: CreatePersonInput!) { createPerson(input: $input) { __typename } }';
const TOKEN = 'mutation ($input: CreateTokenInput!) { createToken(input: $input) { token } }';

export async function makeTasks(url: string, admin: string, ids: readonly string[]): Promise<void> {
  const nodes = ids.map((id) => ({ id, type: 'task', title: id, status: 'open', project: 'p1' }));
  const { status, body } = await callOnce(url, admin, 'POST', '/v1/nodes', { nodes });
  const made = body.results?.filter((result: { status: string }) => result.status === 'created').length;
  if (status !== 200 || made !== ids.length) throw new Error(`the nodes were not made: ${JSON.stringify(body)}`);
}
