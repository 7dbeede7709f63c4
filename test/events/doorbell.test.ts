import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDoorbell, type Doorbell } from '../../src/events/doorbell.ts';
import { type CuttingProxy, createCuttingProxy } from '../support/cutting-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let proxy: CuttingProxy;
beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await createCuttingProxy(database.url);
});
afterAll(async () => {
  await proxy.close();
  await database.drop();
});

const lines = async () => {
  const rows = await database.sql(
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'holdfast-doorbell'`,
  );
  return rows.length;
};

async function open(url: string): Promise<{ bell: Doorbell; rings(): number; warned(): number }> {
  let [rings, warned] = [0, 0];
  const bell = createDoorbell({
    url,
    onRing: () => {
      rings += 1;
    },
    log: {
      warn() {
        warned += 1;
      },
    },
  });
  bell.start();
  await until('it listens', () => rings > 0);
  return { bell, rings: () => rings, warned: () => warned };
}

describe('the doorbell', () => {
  it('rings here at once and at the other replica through the database', async () => {
    const [one, other] = await Promise.all([open(database.url), open(database.url)]);
    const before = [one.rings(), other.rings()];
    one.bell.ring();
    expect(one.rings()).toBe((before[0] ?? 0) + 1);
    await until('it rings there', () => other.rings() > (before[1] ?? 0));
    await Promise.all([one.bell.stop(), other.bell.stop()]);
    await until('both lines are closed', async () => (await lines()) === 0);
  });

  it('B43: gives a line up that went silent, and is heard again', async () => {
    const [bell, other] = [await open(proxy.url), await open(database.url)];
    proxy.silence();
    bell.bell.ring();
    await until('the silence is noticed', () => bell.warned() > 0);
    proxy.speak();
    const before = bell.rings();
    await until('it listens again', () => bell.rings() > before);
    const then = bell.rings();
    other.bell.ring();
    await until('it hears the other', () => bell.rings() > then);
    await Promise.all([bell.bell.stop(), other.bell.stop()]);
  });

  it('leaves no line behind when it is stopped while it connects', async () => {
    const bell = createDoorbell({ url: database.url, onRing: () => {}, log: { warn: () => {} } });
    bell.start();
    await bell.stop();
    await until('no line is left', async () => (await lines()) === 0);
  });
});
