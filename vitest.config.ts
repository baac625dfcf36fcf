import { defineConfig } from 'vitest/config';

const conditions = ['perwatt-source', 'node', 'import', 'module', 'default'];

// Tests run on the sources; what they start as a process of its own runs on the built files.
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: [
      '{packages,tests}/*/src/**/*.test.ts',
      '{harness,datasets,native-power,reports}/src/**/*.test.ts',
    ],
    setupFiles: ['./vitest.setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
