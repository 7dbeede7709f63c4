import { cpus, loadavg } from 'node:os';

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Prints a part's table in Markdown, then the same as one line of JSON. */
export function print(
  title: string,
  database: string,
  rows: readonly Readonly<Record<string, number | string>>[],
): void {
  const load = loadavg()[0]?.toFixed(1);
  const conditions = `${database}, Node.js ${process.version}, ${cpus().length} cores, load ${load}`;
  const columns = Object.keys(rows[0] ?? {});
  const line = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`;
  console.log(`\n## ${title}\n${conditions}\n`);
  console.log([line(columns), line(columns.map(() => '---'))].join('\n'));
  for (const row of rows) console.log(line(columns.map((column) => row[column])));
  console.log(`\n${JSON.stringify({ title, conditions, rows })}`);
}
