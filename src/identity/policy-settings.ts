import type { PrismaClient } from '../generated/prisma/client.ts';
import { isRunName } from '../lease/node-id.ts';
import { type PolicySettings, resolvePolicy } from '../lease/policy.ts';
import { AdminFault } from './admin-fault.ts';

/** Setting a tenant's policy, or a project's own durations. A change never moves the end of a lease already granted. */
export interface PolicyChange {
  /** Null for the whole tenant. */
  readonly project: string | null;
  /** Absent leaves a value; null takes the tenant's own away, or the project's, so that the wider one counts. */
  readonly settings: { readonly [K in keyof PolicySettings]?: PolicySettings[K] | undefined };
}

const SHORTEST_MS = 1_000;
const LONGEST_MS = 90 * 86_400_000;
const DURATIONS = ['claimTtlMs', 'claimTtlMaxMs', 'reserveGraceMs'] as const;
const COUNTS = { bulkMax: 10_000, heldMax: 2_147_483_647 } as const;

/**
 * Changes a policy, if it holds together everywhere afterwards.
 * @throws AdminFault INVALID_INPUT, and then nothing is changed
 */
export async function setPolicy(
  client: PrismaClient,
  tenantId: string,
  { project, settings }: PolicyChange,
): Promise<void> {
  checkForm(project, settings);
  const key = project ?? '';
  await client.$transaction(async (tx) => {
    // The tenant's own row is there and locked first, so that two changes can't each be right and both be wrong.
    await tx.policy.createMany({ data: { tenantId, project: '' }, skipDuplicates: true });
    await tx.$queryRawUnsafe(`SELECT 1 AS one FROM policy WHERE tenant_id = $1 AND project = '' FOR UPDATE`, tenantId);
    const { claimTtlMs, claimTtlMaxMs, reserveGraceMs, bulkMax, heldMax } = settings;
    const data = without({
      ...{ claimTtlMs: whole(claimTtlMs), claimTtlMaxMs: whole(claimTtlMaxMs), reserveGraceMs: whole(reserveGraceMs) },
      ...{ bulkMax, heldMax },
    });
    await tx.policy.upsert({
      where: { tenantId_project: { tenantId, project: key } },
      create: { tenantId, project: key, ...data },
      update: data,
    });
    const rows = await tx.policy.findMany({ where: { tenantId } });
    const ofTenant = rows.find((row) => row.project === '');
    for (const row of rows) {
      const { claimTtlMs: ttl, claimTtlMaxMs: most } = resolvePolicy(toSettings(ofTenant), toSettings(row));
      if (ttl > most) throw tooLong(row.project, ttl, most);
    }
  });
}

function checkForm(project: string | null, settings: PolicyChange['settings']): void {
  if (project !== null && !isRunName(project))
    throw invalid('project must be 1 to 200 characters without control characters.');
  for (const name of DURATIONS) {
    const value = settings[name];
    if (value == null) continue;
    if (!(value >= SHORTEST_MS && value <= LONGEST_MS)) {
      throw invalid(`${name} is ${value}; it must be from ${SHORTEST_MS} to ${LONGEST_MS} milliseconds.`);
    }
  }
  for (const [name, most] of Object.entries(COUNTS) as [keyof typeof COUNTS, number][]) {
    const value = settings[name];
    if (value === undefined) continue;
    if (project !== null) throw invalid(`${name} counts for the whole tenant; leave project out to set it.`);
    if (value !== null && !(Number.isInteger(value) && value >= 1 && value <= most)) {
      throw invalid(`${name} is ${value}; it must be a whole number from 1 to ${most}.`);
    }
  }
}

const invalid = (message: string) => new AdminFault('INVALID_INPUT', message);

function tooLong(project: string, ttl: number, most: number): AdminFault {
  const where = project === '' ? 'the tenant' : `the project ${project}`;
  return invalid(
    `claimTtlMs would be ${ttl} and claimTtlMaxMs ${most} in ${where}; the first must not be above the second.`,
  );
}

const whole = (ms: number | null | undefined): bigint | null | undefined => (ms == null ? ms : BigInt(Math.round(ms)));

/** Without what is undefined, which must leave a value as it is. */
function without<T extends object>(data: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined)) as never;
}

interface Row {
  readonly claimTtlMs: bigint | null;
  readonly claimTtlMaxMs: bigint | null;
  readonly reserveGraceMs: bigint | null;
  readonly bulkMax: number | null;
  readonly heldMax: number | null;
}

function toSettings(row: Row | undefined): PolicySettings | undefined {
  if (row === undefined) return undefined;
  const ms = (value: bigint | null): number | null => (value === null ? null : Number(value));
  const { claimTtlMs, claimTtlMaxMs, reserveGraceMs, bulkMax, heldMax } = row;
  return {
    claimTtlMs: ms(claimTtlMs),
    claimTtlMaxMs: ms(claimTtlMaxMs),
    reserveGraceMs: ms(reserveGraceMs),
    bulkMax,
    heldMax,
  };
}
