import { expect, it } from 'vitest';
import {
  type Answer,
  createLanes,
  LANE_LIMITS,
  type LaneLimits,
  type Lanes,
  type Verdict,
} from '../../src/engine/lanes.ts';
import { Unavailable } from '../../src/engine/unavailable.ts';
import type { Command } from '../../src/lease/command.ts';
import type { Outcome } from '../../src/lease/outcome.ts';
import { claim, nodeIds, renew } from '../support/commands.ts';
import { ana } from '../support/rig.ts';

/** Which commands fly together. The flights here land when the test says so. */
const SWEPT: Outcome = { kind: 'swept', found: 'gone' };

interface Flight {
  readonly commands: readonly Command[];
  land(verdict?: Verdict): void;
}

function createAirport(limits: Partial<LaneLimits> = {}) {
  const flights: Flight[] = [];
  const lanes = createLanes(
    (commands) =>
      new Promise((resolve) => {
        flights.push({ commands, land: (verdict = { outcome: SWEPT }) => resolve(commands.map(() => verdict)) });
      }),
    { ...LANE_LIMITS, ...limits },
  );
  return { lanes, flights };
}

function send(lanes: Lanes, command: Command, from: 'single' | 'bulk' = 'single'): Promise<Outcome> {
  return new Promise((resolve, reject) => lanes.submit(command, from, { resolve, reject } satisfies Answer));
}

/** After the turn of the event loop at whose end the lanes start their flights. */
const departures = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

it('what arrives together flies together, and what arrives meanwhile flies next', async () => {
  const { lanes, flights } = createAirport({ mostInFlight: 1 });
  const first = nodeIds(20, 'a').map((nodeId) => send(lanes, claim(nodeId, ana)));
  await departures();
  const second = nodeIds(30, 'b').map((nodeId) => send(lanes, claim(nodeId, ana)));
  await departures();
  expect(flights.map(({ commands }) => commands.length)).toEqual([20]);
  flights[0]?.land();
  await Promise.all(first);
  await departures();
  expect(flights.map(({ commands }) => commands.length)).toEqual([20, 30]);
  flights[1]?.land();
  await Promise.all(second);
  expect(lanes.load).toBe(0);
});

it('a batch has at most 500 commands, and a node is in one batch in flight at a time', async () => {
  const { lanes, flights } = createAirport();
  const nodes = [...nodeIds(700), ...nodeIds(700)];
  const answers = nodes.map((nodeId) => send(lanes, claim(nodeId, ana), 'bulk'));
  answers.push(...nodeIds(300).map((nodeId) => send(lanes, renew(nodeId, ana))));
  for (let landed = 0; landed < flights.length || lanes.load > 0; ) {
    await departures();
    const inFlight = flights.slice(landed);
    const ids = inFlight.map(({ commands }) => new Set(commands.map(({ nodeId }) => nodeId)));
    expect(new Set(ids.flatMap((each) => [...each])).size).toBe(ids.reduce((sum, each) => sum + each.size, 0));
    for (const flight of inFlight) {
      expect(flight.commands.length).toBeLessThanOrEqual(500);
      flight.land();
    }
    landed += inFlight.length;
    await departures();
  }
  await Promise.all(answers);
});

it('a single call flies with the next batch, however long the bulk call before it', async () => {
  const { lanes, flights } = createAirport({ mostInFlight: 1 });
  for (const nodeId of nodeIds(5_000)) void send(lanes, claim(nodeId, ana), 'bulk');
  await departures();
  const single = send(lanes, claim('urgent', ana));
  flights[0]?.land();
  await departures();
  expect(flights[1]?.commands.map(({ nodeId }) => nodeId)).toContain('urgent');
  flights[1]?.land();
  await single;
});

it('counts a command in its own lane, also when the one that queued its node was dropped for waiting too long', async () => {
  const { lanes, flights } = createAirport({ mostInFlight: 1, longestWaitMs: 50, mostWaiting: 1 });
  const ahead = send(lanes, renew('ahead', ana));
  await departures();
  await expect(send(lanes, renew('n', ana))).rejects.toThrow(Unavailable);
  const behind = send(lanes, claim('n', ana));
  flights[0]?.land();
  await ahead;
  await departures();
  flights[1]?.land();
  await behind;
  // One may wait, and none does.
  const next = send(lanes, claim('n', ana));
  await departures();
  flights[2]?.land();
  expect(await next).toEqual(SWEPT);
});
