import { expiryToPush } from './expiry-to-push.ts';
import { fanOut } from './fan-out.ts';

/**
 * Runs the parts named on the command line, or all, one after the other. Each starts the built server in a process of its
 * own, on a database of its own: the one of DATABASE_URL, which should be empty, or an embedded one that is thrown away.
 */
const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  'expiry-to-push': expiryToPush,
  'fan-out': fanOut,
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => PARTS[name] === undefined);
if (unknown.length > 0) {
  console.error(`No part is called ${unknown.join(', ')}. There are: ${Object.keys(PARTS).join(', ')}.`);
  process.exit(2);
}
for (const name of asked.length > 0 ? asked : Object.keys(PARTS)) await PARTS[name]?.();
