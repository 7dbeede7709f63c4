import { expect, test } from 'vitest';
import { DEFAULT_POLICY, type PolicySettings, resolvePolicy } from '../../src/lease/policy.ts';

const none: PolicySettings = {
  claimTtlMs: null,
  claimTtlMaxMs: null,
  reserveGraceMs: null,
  bulkMax: null,
  heldMax: null,
};
const tenant = { claimTtlMs: 60_000, claimTtlMaxMs: 480_000, reserveGraceMs: 2_880_000, bulkMax: 100, heldMax: 3 };

test('the defaults are 45 minutes, 8 hours, 2 days, 1000 ids and 10000 leases', () => {
  expect(DEFAULT_POLICY).toEqual({
    claimTtlMs: 2_700_000,
    claimTtlMaxMs: 28_800_000,
    reserveGraceMs: 172_800_000,
    bulkMax: 1_000,
    heldMax: 10_000,
  });
});

test.each([
  { guarantee: 'nothing set: the defaults', of: undefined, project: undefined, policy: DEFAULT_POLICY },
  { guarantee: 'nulls set: the defaults', of: none, project: none, policy: DEFAULT_POLICY },
  { guarantee: 'the tenant wins over the defaults', of: tenant, project: undefined, policy: tenant },
  {
    guarantee: 'a null of the tenant leaves the default',
    of: { ...tenant, claimTtlMs: null },
    project: none,
    policy: { ...tenant, claimTtlMs: 2_700_000 },
  },
  { guarantee: 'a null of the project leaves the tenant', of: tenant, project: none, policy: tenant },
  {
    guarantee: 'a project wins downwards',
    of: tenant,
    project: { ...none, claimTtlMs: 1_000 },
    policy: { ...tenant, claimTtlMs: 1_000 },
  },
  {
    guarantee: 'a project wins upwards',
    of: tenant,
    project: { ...none, claimTtlMaxMs: 900_000 },
    policy: { ...tenant, claimTtlMaxMs: 900_000 },
  },
  {
    guarantee: 'a project has its own grace',
    of: tenant,
    project: { ...none, reserveGraceMs: 5_000 },
    policy: { ...tenant, reserveGraceMs: 5_000 },
  },
  {
    guarantee: 'a project wins over the defaults',
    of: undefined,
    project: { ...none, claimTtlMs: 1_000 },
    policy: { ...DEFAULT_POLICY, claimTtlMs: 1_000 },
  },
  {
    guarantee: 'a project overrides durations only',
    of: tenant,
    project: { ...none, bulkMax: 7, heldMax: 7 },
    policy: tenant,
  },
])('$guarantee', ({ of, project, policy }) => {
  expect(resolvePolicy(of, project)).toEqual(policy);
});
