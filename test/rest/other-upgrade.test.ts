import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLiveRig, type LiveRig } from '../support/live-rig.ts';

let rig: LiveRig;
let id: string;
beforeAll(async () => {
  rig = await createLiveRig(1);
  id = await rig.doors.node();
});
afterAll(() => rig.close());

/** A call as clients make it that offer HTTP/2 with every request. */
function offering(
  method: string,
  path: string,
  body: string,
  chunked: boolean,
): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(rig.apps[0]?.url ?? '');
  return new Promise((answered, failed) => {
    const call = request({
      ...{ hostname, port, method, path },
      headers: {
        Connection: 'Upgrade, HTTP2-Settings',
        Upgrade: 'h2c',
        'HTTP2-Settings': 'AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA',
        Authorization: `Bearer ${rig.doors.token('ana')}`,
        'Content-Type': 'application/json',
        ...(body !== '' && (chunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': String(body.length) })),
      },
    });
    call.on('error', failed);
    call.on('response', (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      answer.on('end', () => answered({ status: answer.statusCode ?? 0, text }));
    });
    call.end(body);
  });
}

describe('a request that offers another protocol is answered as any other', () => {
  it.each([
    ['a read', 'GET', '/v1/me', '', false],
    ['a verb', 'POST', '/v1/nodes/{id}/claim', '{"session":"s1"}', false],
    ['a verb in chunks', 'POST', '/v1/nodes/{id}/renew', '{"session":"s1"}', true],
    ['a long body', 'POST', '/v1/queue/renew', JSON.stringify({ ids: new Array(900).fill('n'.repeat(199)) }), false],
    ['a document', 'POST', '/graphql', '{"query":"{ viewer { isAdmin } }"}', false],
  ])('%s', async (_name, method, path, body, chunked) => {
    const { status, text } = await offering(method, path.replace('{id}', id), body, chunked);
    expect(status).toBe(200);
    expect(JSON.parse(text)).toBeTypeOf('object');
  });
});
