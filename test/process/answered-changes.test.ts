import { expect, it } from 'vitest';
import type { LeaseJson } from '../../src/rest/wire.ts';
import { checkAnswers, type LeaseRow } from '../support/answered-changes.ts';
import type { Verb } from '../support/lease-calls.ts';
import type { SentCall } from '../support/lease-traffic.ts';

/** The check of the kill tests finds what it is there to find, and excuses what it must. */
const lease = (by: string, fence: string, expires: number, more: Partial<LeaseJson> = {}): LeaseJson => ({
  ...{ node_id: 'task-1', by, by_name: by, session: null, claimed_at: '', expires, expires_at: '', fence, ...more },
});
const sent = (verb: Verb, person: string, sentAt: number, answer: SentCall['answer'] = null): SentCall => ({
  ...{ verb, person, nodeIds: ['task-1'], fence: null, path: '', body: {}, sentAt, answer },
});
const told = (verb: Verb, at: number, ...leases: LeaseJson[]) =>
  sent(verb, leases[0]?.by ?? 'ana', at, { at: at + 1, done: true, leases });
const row = (fence: string, holder: string | null, expires: number | null): LeaseRow => ({
  ...{ node_id: 'task-1', fence, holder, expires: expires === null ? null : String(expires) },
});

const claimed = told('claim', 10, lease('ana', '1', 100));

it.each([
  ['a grant that is gone', [claimed], row('0', null, null)],
  ['a lease that is free though nobody released it', [claimed], row('1', null, null)],
  ['a lease that was released before it was granted', [told('release', 1), claimed], row('1', null, null)],
  ['a lease of another person', [claimed], row('1', 'bo', 100)],
  ['an end before the one that was answered', [claimed], row('1', 'ana', 99)],
  ['a grant that no call can have made', [claimed, sent('release', 'ana', 20)], row('2', 'bo', 100)],
  ['two people with one fence', [claimed, told('claim', 20, lease('bo', '1', 100))], row('1', 'ana', 100)],
  ['a grant to a person with no call in doubt', [claimed, sent('claim', 'cleo', 20)], row('2', 'bo', 100)],
])('finds %s', (_what, calls, after) => {
  expect(checkAnswers(calls, [row('0', null, null)], [after]).broken).not.toEqual([]);
});

const reserved = told('reserve', 20, lease('ana', '1', 900, { reserved: true }));

it.each([
  ['what was answered', [claimed], row('1', 'ana', 100)],
  ['a later end', [claimed, sent('extend', 'ana', 20)], row('1', 'ana', 150)],
  ['a release without answer', [claimed, sent('release', 'ana', 20)], row('1', null, null)],
  ['a claim without answer', [claimed, sent('release', 'ana', 20), sent('claim', 'bo', 21)], row('2', 'bo', 120)],
  ['a reservation that was resumed', [claimed, reserved, sent('claim', 'ana', 30)], row('1', 'ana', 120)],
])('takes %s as it is', (_what, calls, after) => {
  expect(checkAnswers(calls, [row('0', null, null)], [after]).broken).toEqual([]);
});
