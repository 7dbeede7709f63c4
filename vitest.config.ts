import { createRequire } from 'node:module';
import { defineConfig } from 'vitest/config';

const require = createRequire(import.meta.url);

export default defineConfig({
  // The schema builder and the tests must share one copy of graphql.
  resolve: { alias: [{ find: /^graphql$/, replacement: require.resolve('graphql').replace(/\.js$/, '.mjs') }] },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    server: { deps: { inline: [/graphql/, /pothos/] } },
  },
});
