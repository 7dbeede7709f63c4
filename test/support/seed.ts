import fc from 'fast-check';

/**
 * Whether a change lands must not hang on dice, so CI throws the same each time; every other run throws anew, and what
 * those find is a fault to mend. HOLDFAST_TEST_SEED repeats a run.
 */
const given = process.env.HOLDFAST_TEST_SEED ?? (process.env.CI === undefined ? undefined : '20261130');
if (given !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(given) });
