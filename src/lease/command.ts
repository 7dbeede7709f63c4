/** The commands of the one door. Each names one node; a bulk call is many of them. */

/** Who calls: always a person, through an agent of theirs or not. */
export interface Caller {
  readonly person: string;
  readonly agent: string | null;
}

interface ByCaller {
  readonly nodeId: string;
  readonly caller: Caller;
}

export interface Claim extends ByCaller {
  readonly verb: 'claim';
  readonly session: string | null;
  /** The nonce of one agent launch. */
  readonly dispatch: string | null;
  /** Replace an earlier launch of the same person; needs a dispatch that differs. */
  readonly force: boolean;
}

export interface Renew extends ByCaller {
  readonly verb: 'renew';
  readonly session: string | null;
  /** Act only if this is still the fence of the lease in force; then nothing is ever reclaimed. */
  readonly fence: bigint | null;
}

export interface Extend extends ByCaller {
  readonly verb: 'extend';
  /** How much further, ms: finite and above 0; fractions are rounded up. */
  readonly ms: number;
  readonly session: string | null;
  readonly fence: bigint | null;
}

export interface Reserve extends ByCaller {
  readonly verb: 'reserve';
  readonly session: string | null;
  readonly fence: bigint | null;
}

export interface Release extends ByCaller {
  readonly verb: 'release';
  /** Names the lease that is to end, unless `drain` is set. */
  readonly fence: bigint | null;
  /** Set on a release of all that is held: then the fence was only read, and the session is what the call named. */
  readonly drain?: { readonly session: string | null };
}

export interface SetStatus extends ByCaller {
  readonly verb: 'set-status';
  readonly status: string;
}

/** Make a node, or change it. Stores what it is given, claims nothing, removes no edge. */
export interface PutNode extends ByCaller {
  readonly verb: 'put-node';
  readonly fields: NodeFields;
  readonly edges: readonly Edge[];
  readonly ifExists: 'fail' | 'skip' | 'update';
}

/** The sweep's look at one lease: ends it if it has lapsed, else only moves the next look. */
export interface Expire {
  readonly verb: 'expire';
  readonly nodeId: string;
  readonly fence: bigint;
}

/** Writes a durable fact by hand. `nodeId` is where the edge begins. */
export interface AddEdge extends ByCaller {
  readonly verb: 'add-edge';
  readonly edge: Edge;
}

/** Takes a durable fact away by hand. */
export interface RemoveEdge extends ByCaller {
  readonly verb: 'remove-edge';
  readonly edge: Edge;
}

/** An admin ends whatever lease is in force. */
export interface Break extends ByCaller {
  readonly verb: 'break';
  /** Why, for its holder and for the history. */
  readonly reason: string | null;
}

export type Command =
  | Claim
  | Renew
  | Extend
  | Reserve
  | Release
  | SetStatus
  | PutNode
  | AddEdge
  | RemoveEdge
  | Break
  | Expire;

/** What a node says of itself. Absent fields are left as they are on update. */
export interface NodeFields {
  readonly type: string;
  readonly title?: string | null;
  readonly status?: string | null;
  readonly project?: string | null;
  readonly priority?: string | null;
  readonly summary?: string | null;
  readonly body?: string | null;
  readonly date?: string | null;
  readonly neededBy?: string | null;
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** A durable fact between two nodes. */
export interface Edge {
  readonly from: string;
  readonly type: string;
  readonly to: string;
}

/** The edge that records who carries a node. */
export function assignedEdge(nodeId: string, person: string): Edge {
  return { from: nodeId, type: 'assigned', to: person };
}
