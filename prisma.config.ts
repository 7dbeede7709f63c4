import { defineConfig } from 'prisma/config';

// Only `prisma generate` is used here, to make the client at install time. Migrations are applied by
// `src/db/migrate.ts`, so that a machine needs no engine download.
export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
});
