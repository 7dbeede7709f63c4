-- Every key begins with tenant_id and no transaction crosses tenants. Ids compare byte by byte (COLLATE "C"), so
-- that two ids are equal only when they are the same, and sort the same on every server.

-- The one clock. Whole milliseconds, because instants travel as epoch ms. Test databases replace this function, so
-- that verbs, reads and sweeps shift together.
CREATE FUNCTION holdfast_now() RETURNS timestamptz
  LANGUAGE sql VOLATILE
  AS $$ SELECT date_trunc('milliseconds', clock_timestamp()) $$;

-- An instant as epoch milliseconds, and back. Exact: both sides are whole milliseconds.
CREATE FUNCTION holdfast_ms(at timestamptz) RETURNS bigint
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT (extract(epoch FROM at) * 1000)::bigint $$;

CREATE FUNCTION holdfast_at(ms bigint) RETURNS timestamptz
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS $$ SELECT timestamptz 'epoch' + ms * interval '1 millisecond' $$;

-- One organisation. `seq` counts its durable events; the row is the last lock of every transaction that writes any.
-- `last_at` keeps event times rising with `seq` when two batches commit in the other order than they read the clock.
CREATE TABLE tenant (
  tenant_id  text COLLATE "C" PRIMARY KEY,
  name       text NOT NULL,
  seq        bigint NOT NULL DEFAULT 0,
  last_at    timestamptz(3) NOT NULL DEFAULT 'epoch',
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT tenant_id_form CHECK (tenant_id ~ '^[a-z0-9][a-z0-9-]{0,199}$'),
  CONSTRAINT tenant_seq_counts CHECK (seq >= 0)
) WITH (fillfactor = 20);

-- Settings, apart from the tenant's row so that reading them never meets its lock. `project` '' is the whole tenant;
-- null means "as the next wider setting has it".
CREATE TABLE policy (
  tenant_id        text COLLATE "C" NOT NULL REFERENCES tenant,
  project          text COLLATE "C" NOT NULL,
  claim_ttl_ms     bigint,
  claim_ttl_max_ms bigint,
  reserve_grace_ms bigint,
  bulk_max         integer,
  held_max         integer,
  PRIMARY KEY (tenant_id, project),
  CONSTRAINT policy_durations CHECK (
    claim_ttl_ms BETWEEN 1000 AND 7776000000
    AND claim_ttl_max_ms BETWEEN 1000 AND 7776000000
    AND reserve_grace_ms BETWEEN 1000 AND 7776000000),
  CONSTRAINT policy_ttl_under_ceiling CHECK (claim_ttl_ms <= claim_ttl_max_ms),
  CONSTRAINT policy_bulk_max CHECK (bulk_max BETWEEN 1 AND 10000),
  CONSTRAINT policy_held_max CHECK (held_max >= 1),
  CONSTRAINT policy_limits_by_tenant CHECK (project = '' OR (bulk_max IS NULL AND held_max IS NULL))
);

CREATE TABLE person (
  tenant_id   text COLLATE "C" NOT NULL REFERENCES tenant,
  person_id   text COLLATE "C" NOT NULL,
  name        text NOT NULL,
  email       text,
  disabled_at timestamptz(3),
  created_at  timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, person_id),
  CONSTRAINT person_id_form CHECK (person_id ~ '^[a-z0-9][a-z0-9-]{0,199}$')
);

CREATE TABLE agent (
  tenant_id  text COLLATE "C" NOT NULL,
  agent_id   text COLLATE "C" NOT NULL,
  owner_id   text COLLATE "C" NOT NULL,
  label      text,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, agent_id),
  FOREIGN KEY (tenant_id, owner_id) REFERENCES person,
  CONSTRAINT agent_id_form CHECK (agent_id ~ '^[a-z0-9][a-z0-9-]{0,199}$')
);

-- The secret itself is never stored: `hash` is the sha-256 of the whole token.
CREATE TABLE api_token (
  tenant_id    text COLLATE "C" NOT NULL,
  hash         bytea NOT NULL,
  token_id     text COLLATE "C" NOT NULL,
  person_id    text COLLATE "C" NOT NULL,
  agent_id     text COLLATE "C",
  label        text,
  admin        boolean NOT NULL DEFAULT false,
  created_at   timestamptz(3) NOT NULL,
  expires_at   timestamptz(3),
  revoked_at   timestamptz(3),
  last_used_at timestamptz(3),
  PRIMARY KEY (tenant_id, hash),
  UNIQUE (tenant_id, token_id),
  FOREIGN KEY (tenant_id, person_id) REFERENCES person,
  FOREIGN KEY (tenant_id, agent_id) REFERENCES agent,
  CONSTRAINT api_token_hash_is_sha256 CHECK (octet_length(hash) = 32)
);

-- `revision` rises with every change of the node's own fields and of edges written by hand.
CREATE TABLE work_node (
  tenant_id  text COLLATE "C" NOT NULL REFERENCES tenant,
  node_id    text COLLATE "C" NOT NULL,
  type       text COLLATE "C" NOT NULL,
  title      text,
  status     text COLLATE "C",
  project    text COLLATE "C",
  priority   text COLLATE "C",
  summary    text,
  body       text,
  date       text COLLATE "C",
  needed_by  text COLLATE "C",
  extra      jsonb NOT NULL DEFAULT '{}',
  revision   bigint NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, node_id),
  CONSTRAINT work_node_id_form CHECK (node_id ~ '^[a-z0-9][a-z0-9-]{0,199}$'),
  CONSTRAINT work_node_extra_is_object CHECK (jsonb_typeof(extra) = 'object')
);

-- Durable facts. No foreign keys: an edge may point at what is not known yet, and a check per edge costs the write path.
CREATE TABLE edge (
  tenant_id text COLLATE "C" NOT NULL,
  from_id   text COLLATE "C" NOT NULL,
  type      text COLLATE "C" NOT NULL,
  to_id     text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, from_id, type, to_id)
);
CREATE INDEX edge_by_target ON edge (tenant_id, to_id, type, from_id);

-- One row for every node, made with it and never deleted, so that a fence can never start again and a claim updates
-- in place. A free row has no holder. No index has expires_at: a heartbeat must stay an in-place update.
CREATE TABLE lease (
  tenant_id  text COLLATE "C" NOT NULL,
  node_id    text COLLATE "C" NOT NULL,
  fence      bigint NOT NULL DEFAULT 0,
  holder     text COLLATE "C",
  agent      text COLLATE "C",
  session    text COLLATE "C",
  dispatch   text COLLATE "C",
  claimed_at timestamptz(3),
  expires_at timestamptz(3),
  sweep_at   timestamptz(3),
  reserved   boolean NOT NULL DEFAULT false,
  PRIMARY KEY (tenant_id, node_id),
  CONSTRAINT lease_fence_counts CHECK (fence >= 0),
  CONSTRAINT lease_whole_or_free CHECK (
    num_nulls(holder, claimed_at, expires_at, sweep_at) IN (0, 4)
    AND (holder IS NOT NULL OR (num_nonnulls(agent, session, dispatch) = 0 AND NOT reserved))),
  CONSTRAINT lease_granted_has_fence CHECK (holder IS NULL OR fence > 0),
  CONSTRAINT lease_swept_in_time CHECK (sweep_at <= expires_at),
  CONSTRAINT lease_runs_forward CHECK (claimed_at < expires_at),
  CONSTRAINT lease_reservation_has_no_dispatch CHECK (NOT reserved OR dispatch IS NULL)
) WITH (fillfactor = 60);
CREATE INDEX lease_due ON lease (sweep_at, tenant_id) WHERE holder IS NOT NULL;
CREATE INDEX lease_by_age ON lease (tenant_id, claimed_at, node_id) WHERE holder IS NOT NULL;
CREATE INDEX lease_by_holder ON lease (tenant_id, holder, node_id) WHERE holder IS NOT NULL;

-- The history: gapless by tenant, in commit order. `batch` names the transaction that wrote the event; `cause` says how
-- an ending came about where its kind does not.
CREATE TABLE lease_event (
  tenant_id    text COLLATE "C" NOT NULL,
  seq          bigint NOT NULL,
  at           timestamptz(3) NOT NULL,
  kind         text COLLATE "C" NOT NULL,
  node_id      text COLLATE "C" NOT NULL,
  project      text COLLATE "C",
  holder       text COLLATE "C",
  session      text COLLATE "C",
  fence        bigint,
  actor_person text COLLATE "C",
  actor_agent  text COLLATE "C",
  expires_at   timestamptz(3),
  reserved     boolean NOT NULL DEFAULT false,
  status       text COLLATE "C",
  reason       text,
  cause        text COLLATE "C",
  batch        bigint NOT NULL,
  PRIMARY KEY (tenant_id, seq),
  CONSTRAINT lease_event_kind CHECK (kind IN (
    'CLAIMED', 'RECLAIMED', 'RELEASED', 'EXPIRED', 'SUPERSEDED', 'BROKEN', 'EXTENDED', 'RESERVED', 'RESUMED', 'REBOUND',
    'STATUS_CHANGED', 'NODE_CREATED', 'EDGE_ADDED', 'EDGE_REMOVED')),
  CONSTRAINT lease_event_cause CHECK (kind || ' ' || cause IN ('RELEASED named', 'EXPIRED taken')),
  CONSTRAINT lease_event_names_its_lease CHECK (num_nulls(holder, fence, expires_at) IN (0, 3))
);
CREATE INDEX lease_event_by_node ON lease_event (tenant_id, node_id, seq);
