/**
 * Preloaded into a server process: at SIGUSR2 its wall clock jumps an hour ahead, at the next to an hour behind. Timers
 * run by another clock and are left alone.
 */
const Real = Date;
const HOUR = 3_600_000;
const jumps = [HOUR, -HOUR];
let shift = 0;

const now = () => Real.now() + shift;
globalThis.Date = new Proxy(Real, {
  construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
process.on('SIGUSR2', () => {
  shift = jumps.shift() ?? 0;
  process.stdout.write(`the wall clock is off by ${Date.now() - Real.now()} ms\n`);
});
