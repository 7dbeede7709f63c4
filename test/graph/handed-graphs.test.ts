import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseNode, renderNode } from '../../src/graph/front-matter.ts';

const data = fileURLToPath(new URL('../../../shared/data', import.meta.url));

/** Edges and statuses as the lines of the file have them, found without the parser under test. */
function linesOf(file: string) {
  const [, frontMatter = ''] = file.split(/^---$/m);
  return {
    status: /^status: (.*)$/m.exec(frontMatter)?.[1],
    edges: [...frontMatter.matchAll(/^ {2}- \{type: (.*), to: (.*)\}$/gm)].map(([, type, to]) => ({ type, to })),
    keys: [...frontMatter.matchAll(/^([a-z_]+):/gm)].map(([, key]) => key),
  };
}

describe.each([
  { graph: 'live-shape', files: 343, edges: 756, withStatus: 233 },
  { graph: 'meridian', files: 39, edges: 23, withStatus: 39 },
])('the handed graph $graph', ({ graph, files, edges, withStatus }) => {
  const folder = join(data, graph, 'nodes');
  it.skipIf(!existsSync(folder))('is read whole (skipped where ../shared/data is not there)', () => {
    const names = readdirSync(folder);
    let edgesSeen = 0;
    let statusesSeen = 0;
    for (const name of names) {
      const file = readFileSync(join(folder, name), 'utf8');
      const parsed = parseNode(file);
      if (!parsed.ok) throw new Error(`${name}: ${parsed.reason}`);
      const lines = linesOf(file);
      expect(parsed.notes).toEqual([]);
      expect(`${parsed.node.id}.md`).toBe(name);
      expect(parsed.node.status).toBe(lines.status);
      expect(parsed.node.edges).toEqual(lines.edges);
      expect([...Object.keys(parsed.node), ...Object.keys(parsed.node.extra ?? {})]).toEqual(
        expect.arrayContaining(lines.keys),
      );
      expect(file.endsWith(`---\n\n${parsed.node.body}`)).toBe(true);
      edgesSeen += lines.edges.length;
      statusesSeen += lines.status === undefined ? 0 : 1;

      const again = parseNode(renderNode(parsed.node));
      expect(again).toEqual({ ...parsed, node: { ...parsed.node, status: parsed.node.status ?? 'open' } });
    }
    expect({ files: names.length, edgesSeen, statusesSeen }).toEqual({
      files,
      edgesSeen: edges,
      statusesSeen: withStatus,
    });
  });
});
