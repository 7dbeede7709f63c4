import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { ROOT } from './tree.ts';

/** The migrations make the tables and prisma/schema.prisma describes them to the client: both are written by hand. */
interface Column {
  readonly type: string;
  readonly nullable: boolean;
}

interface Table {
  readonly columns: Readonly<Record<string, Column>>;
  readonly primaryKey: readonly string[];
}

const COLUMN_TYPES: Readonly<Record<string, string>> = {
  String: 'text',
  BigInt: 'bigint',
  Int: 'integer',
  Boolean: 'boolean',
  Bytes: 'bytea',
  Json: 'jsonb',
  'DateTime @db.Timestamptz(3)': 'timestamp(3) with time zone',
};

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

it('describes every migrated table to the client, and no other', async () => {
  const described = describedTables(readFileSync(join(ROOT, 'prisma/schema.prisma'), 'utf8'));
  expect(Object.keys(described)).not.toEqual([]);
  expect(described).toEqual(await migratedTables());
});

function describedTables(schema: string): Record<string, Table> {
  const tables: Record<string, Table> = {};
  for (const [, body = ''] of schema.matchAll(/^model \w+ \{\n([\s\S]*?)^\}/gm)) {
    const fields = body.split('\n').flatMap(parseField);
    const columnOf = Object.fromEntries(fields.map((field) => [field.name, field.column]));
    const [, keys] = body.match(/@@id\(\[([^\]]*)\]\)/) ?? [];
    const [, single] = body.match(/^\s*(\w+) .*@id\b/m) ?? [];
    const [, table = 'a model without @@map'] = body.match(/@@map\("(\w+)"\)/) ?? [];
    tables[table] = {
      columns: Object.fromEntries(fields.map(({ column, type, nullable }) => [column, { type, nullable }])),
      primaryKey: (keys ?? single ?? '').split(/,\s*/).map((name) => columnOf[name] ?? name),
    };
  }
  return tables;
}

interface Field extends Column {
  readonly name: string;
  readonly column: string;
}

/** @returns nothing for a line that is no column: an attribute of the model, or a relation */
function parseField(line: string): Field[] {
  const [, name, bare, optional, rest = ''] = line.match(/^\s*(\w+)\s+(\w+)(\?|\[\])?(.*)$/) ?? [];
  if (name === undefined || bare === undefined) return [];
  const [native = ''] = rest.match(/@db\.\S+/) ?? [];
  const type = COLUMN_TYPES[`${bare} ${native}`.trim()];
  const isRelation = /^[A-Z]\w*$/.test(bare) && type === undefined && native === '';
  if (isRelation) return [];
  const [, column = name] = rest.match(/@map\("(\w+)"\)/) ?? [];
  return [{ name, column, type: type ?? `${bare} ${native}`, nullable: optional === '?' }];
}

async function migratedTables(): Promise<Record<string, Table>> {
  const rows = await database.sql<{ table: string; columns: Record<string, Column>; primary_key: string[] }>(`
    SELECT c.relname AS table,
           json_object_agg(a.attname, json_build_object(
             'type', format_type(a.atttypid, a.atttypmod), 'nullable', NOT a.attnotnull)) AS columns,
           (SELECT json_agg(k.column_name ORDER BY k.ordinal_position)
              FROM information_schema.table_constraints t
              JOIN information_schema.key_column_usage k USING (constraint_schema, constraint_name)
             WHERE t.constraint_type = 'PRIMARY KEY' AND t.table_name = c.relname) AS primary_key
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace AND c.relname <> '_prisma_migrations'
     GROUP BY c.relname`);
  return Object.fromEntries(rows.map((row) => [row.table, { columns: row.columns, primaryKey: row.primary_key }]));
}
