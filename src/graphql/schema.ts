import './admin.ts';
import './bulk-mutations.ts';
import './directory.ts';
import './graph-mutations.ts';
import './lease-board.ts';
import './lease-event-subscription.ts';
import './lease-events.ts';
import './lease-expiring.ts';
import './lease-list.ts';
import './lease-lost.ts';
import './lease-mutations.ts';
import './lease.ts';
import './node-list.ts';
import './node-mutations.ts';
import './policy.ts';
import './tenant-mutations.ts';
import './scalars.ts';
import './status-mutation.ts';
import './viewer.ts';
import { builder } from './builder.ts';

/** The schema, built once. The only file that imports every type. */
export const schema = builder.toSchema();
