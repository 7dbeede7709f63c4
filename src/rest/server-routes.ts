import { z } from 'zod';
import { errorAnswer } from './errors.ts';
import { openapiDocument } from './openapi.ts';
import type { Routes } from './routes.ts';

/** Readiness, which a stopping server gives up first. */
export interface Readiness {
  notReady(): void;
}

const health = z
  .object({ status: z.literal('ok').describe('Always ok.') })
  .meta({ id: 'Health', description: 'All is well.' });
const document = z.looseObject({ openapi: z.string().describe('The version of OpenAPI, 3.1.') });

/** What the server tells of itself, to anybody. @param check rejects when the database does not answer */
export function serverRoutes(routes: Routes, check: () => Promise<unknown>): Readiness {
  let ready = true;
  let text: string | undefined;
  routes.add(
    {
      ...{ method: 'GET', path: '/livez', name: 'live', tag: 'server', right: 'none', answer: health },
      summary: 'Whether the process answers.',
    },
    async () => ({ status: 'ok' as const }),
  );
  routes.add(
    {
      ...{ method: 'GET', path: '/readyz', name: 'ready', tag: 'server', right: 'none', answer: health },
      ...{ summary: 'Whether calls can be answered: not while it stops or the database is away.' },
      errors: ['unavailable'],
    },
    async (c) => {
      if (!ready) return errorAnswer(c, 'unavailable', 'The server is stopping.');
      try {
        await check();
        return { status: 'ok' as const };
      } catch {
        // Why is the log's to tell, where the calls that need the database report it.
        return errorAnswer(c, 'unavailable', 'The database does not answer.');
      }
    },
  );
  routes.add(
    {
      ...{ method: 'GET', path: '/openapi.json', name: 'openapi', tag: 'server', right: 'none', answer: document },
      summary: 'This document.',
    },
    async (c) => {
      text ??= JSON.stringify(openapiDocument(routes.all));
      return c.body(text, 200, { 'Content-Type': 'application/json' });
    },
  );
  return {
    notReady() {
      ready = false;
    },
  };
}
