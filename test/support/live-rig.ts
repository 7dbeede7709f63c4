import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { type App, startApp } from '../../src/app.ts';
import { readServerConfig } from '../../src/config.ts';
import { createDoorsRig, type Doors } from './doors.ts';

/** Real servers on the database of a doors rig, for what needs sockets: replicas of one another. */
export interface LiveRig {
  readonly doors: Doors;
  readonly apps: readonly App[];
  /** Another replica. */
  start(environment?: Readonly<Record<string, string>>): Promise<App>;
  /** Follows a subscription; every message is kept, so that none is missed by asking late. */
  subscribe(who: string, document: string, variables?: Record<string, unknown>, app?: App): Messages;
  close(): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: a message is whatever JSON the server sent; the assertion says what it should be.
type Json = any;

export interface Messages {
  readonly all: readonly Json[];
  /** The next message that was not asked for yet. */
  next(): Promise<Json>;
  /** Waits until a message passes, and gives all up to it. */
  until(passes: (message: Json) => boolean): Promise<readonly Json[]>;
  /** How it ended: null by completion, else the errors or the close code. */
  readonly ended: Promise<unknown>;
  stop(): void;
}

export async function createLiveRig(replicas = 1): Promise<LiveRig> {
  const doors = await createDoorsRig();
  await doors.database.clock.runAhead(0);
  const apps: App[] = [];
  const stops: (() => void)[] = [];
  const rig: LiveRig = {
    doors,
    apps,
    async start(environment = {}) {
      const config = readServerConfig({
        DATABASE_URL: doors.database.url,
        PORT: '0',
        HOLDFAST_LOG_LEVEL: 'silent',
        HOLDFAST_POOL_SIZE: '4',
        ...environment,
      });
      const app = await startApp(config);
      apps.push(app);
      return app;
    },
    subscribe(who, document, variables = {}, app = apps[0]) {
      const url = `${(app as App).url.replace('http', 'ws')}/graphql`;
      const connectionParams = { authorization: `Bearer ${doors.token(who)}` };
      const client = createClient({ url, connectionParams, webSocketImpl: WebSocket, retryAttempts: 0 });
      const messages = collect((sink) => client.subscribe({ query: document, variables }, sink));
      stops.push(() => {
        messages.stop();
        void client.dispose();
      });
      return messages;
    },
    async close() {
      for (const stop of stops) stop();
      await Promise.all(apps.map((app) => app.stop()));
      await doors.close();
    },
  };
  for (let index = 0; index < replicas; index += 1) await rig.start();
  return rig;
}

interface Sink {
  next(message: Json): void;
  error(error: unknown): void;
  complete(): void;
}

const LONGEST_WAIT_MS = 20_000;

/** Keeps what comes, and lets a test wait for it. */
export function collect(subscribe: (sink: Sink) => () => void): Messages {
  const all: Json[] = [];
  let asked = 0;
  let wake: (() => void) | undefined;
  let end: (how: unknown) => void = () => {};
  const ended = new Promise<unknown>((resolve) => {
    end = resolve;
  });
  const told = (how: unknown) => {
    end(how);
    wake?.();
  };
  const stop = subscribe({
    next(message) {
      all.push(message);
      wake?.();
    },
    error: (error) => told(error),
    complete: () => told(null),
  });
  async function next(): Promise<Json> {
    const limit = Date.now() + LONGEST_WAIT_MS;
    while (asked >= all.length) {
      if (Date.now() > limit) throw new Error(`no further message came; so far: ${JSON.stringify(all).slice(-2_000)}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1_000);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    asked += 1;
    return all[asked - 1];
  }
  return {
    all,
    next,
    async until(passes) {
      const from = asked;
      for (let message = await next(); !passes(message); message = await next());
      return all.slice(from, asked);
    },
    ended,
    stop,
  };
}
