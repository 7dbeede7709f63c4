/**
 * The HTTP client of the commands. It sends, and sends again while the server is busy; every call of the API is safe to
 * repeat. A fault that no other call would be spared from is thrown as `ApiFault`, with what to do about it.
 */
export interface Api {
  /** Sends a body that is JSON already. */
  post(path: string, json: string): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  /** The JSON of the answer, undefined when it was none. */
  readonly body: unknown;
  /** How often the request was sent. Above 1, an earlier try may have done its work all the same. */
  readonly tries: number;
}

export class ApiFault extends Error {
  override readonly name = 'ApiFault';
}

export interface ApiOptions {
  readonly url: string;
  readonly token: string | null;
  /** Waits between tries; tests pass their own. */
  readonly wait?: (ms: number) => Promise<void>;
}

const MOST_TRIES = 6;
const LONGEST_WAIT_MS = 30_000;
const TIMEOUT_MS = 60_000;

export function createApi({ url, token, wait = waitFor }: ApiOptions): Api {
  const base = url.replace(/\/+$/, '');

  async function send(path: string, json: string): Promise<Response> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      return await fetch(`${base}${path}`, { method: 'POST', headers, body: json, redirect: 'manual', signal });
    } catch (cause) {
      throw new ApiFault(`No answer from ${base} (${reason(cause)}). Is the server running? Set HOLDFAST_URL.`, {
        cause,
      });
    }
  }

  async function post(path: string, json: string): Promise<Answer> {
    if (token === null) throw new ApiFault(NO_TOKEN);
    for (let tries = 1; ; tries += 1) {
      const response = await send(path, json);
      const { status } = response;
      const body = await jsonOf(response);
      if (status === 401) throw new ApiFault(`${base} does not know this token (401). ${NEW_TOKEN}`);
      if (status === 403) throw new ApiFault(`This token may not do that on ${base} (403). Use an admin's token.`);
      if (status !== 503 && status !== 429) return { status, body, tries };
      if (tries === MOST_TRIES) {
        throw new ApiFault(
          `${base} is busy: ${tries} tries, the last ended with ${said(status, body)}. Try again later.`,
        );
      }
      await wait(retryAfterMs(response));
    }
  }

  return { post };
}

const NO_TOKEN = "HOLDFAST_TOKEN is not set. A server's first token is in the file admin-token of its data folder.";
const NEW_TOKEN = 'It may have ended or been revoked, or be for another server. Set HOLDFAST_TOKEN to one that holds.';

/** An answer that is no success, in the server's own words where it has any, to end a sentence with. */
export function said(status: number, body: unknown): string {
  const message = (body as { error?: { message?: unknown } } | null | undefined)?.error?.message;
  return typeof message === 'string' ? `${status}: ${message.replace(/\.$/, '')}` : `${status}`;
}

async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
}

function retryAfterMs(response: Response): number {
  const seconds = Number(response.headers.get('retry-after') ?? 1);
  return Math.min(Math.max(Number.isFinite(seconds) ? seconds * 1_000 : 1_000, 100), LONGEST_WAIT_MS);
}

function waitFor(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

/** `fetch` says only "fetch failed"; what failed is in its cause. */
function reason(fault: unknown): string {
  const cause = fault instanceof Error && fault.cause instanceof Error ? fault.cause : fault;
  const code = (cause as NodeJS.ErrnoException).code;
  return code ?? (cause instanceof Error ? cause.message : String(cause));
}
