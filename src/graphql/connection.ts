import { GraphQLError } from 'graphql';
import { InvalidCursor, type Page, type Total } from '../read/page.ts';
import { builder } from './builder.ts';

/** Lists by pages: a connection for each type, with a total that is counted only when it is selected. */
export interface ConnectionShape<T> {
  readonly page: Page<T>;
  /** The cursor the page begins behind; null for the first page. */
  readonly after: string | null;
  /** Counts what the list selects; null where a list has no total. */
  readonly total: (() => Promise<Total>) | null;
}

const MOST_ON_PAGE = 100;
const PAGE = 50;

interface PageInfoShape {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

export const PageInfo = builder.objectRef<PageInfoShape>('PageInfo').implement({
  description: 'Where a page is in its list.',
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage', { description: 'Whether there is more behind this page.' }),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage', { description: 'Whether this page began behind a cursor.' }),
    startCursor: t.exposeString('startCursor', {
      nullable: true,
      description: 'The place of the first object; null on an empty page.',
    }),
    endCursor: t.exposeString('endCursor', {
      nullable: true,
      description: 'The place of the last object, to go on behind it; null on an empty page.',
    }),
  }),
});

type NodeType<T> = ReturnType<typeof builder.objectRef<T>> | Parameters<typeof builder.objectField>[0];

/**
 * Makes `XConnection` and `XEdge`.
 * @param counted whether the list has a total
 */
export function connectionOf<T>(name: string, what: string, node: NodeType<T>, counted: boolean) {
  const edge = builder.objectRef<Page<T>['rows'][number]>(`${name}Edge`).implement({
    description: `One of ${what}, with its place in the list.`,
    fields: (t) => ({
      cursor: t.exposeString('cursor', { description: 'Its place, to go on behind it.' }),
      node: t.field({ type: node as never, description: 'The object itself.', resolve: ({ item }) => item as never }),
    }),
  });
  return builder.objectRef<ConnectionShape<T>>(`${name}Connection`).implement({
    description: `A page of ${what}.`,
    fields: (t) => ({
      edges: t.field({ type: [edge], description: 'The objects of this page.', resolve: ({ page }) => [...page.rows] }),
      nodes: t.field({
        type: [node as never],
        description: 'The objects of this page, without their places.',
        resolve: ({ page }) => page.rows.map(({ item }) => item) as never,
      }),
      pageInfo: t.field({
        type: PageInfo,
        description: 'Where this page is in the list.',
        resolve: ({ page, after }) => ({
          hasNextPage: page.hasMore,
          hasPreviousPage: after !== null,
          startCursor: page.rows[0]?.cursor ?? null,
          endCursor: page.rows.at(-1)?.cursor ?? null,
        }),
      }),
      ...(counted && {
        totalCount: t.int({
          description: 'How many objects the list has, counted up to 10000. Ask for it only where it is shown.',
          resolve: async ({ total }) => (await total?.())?.count ?? 0,
        }),
        totalCountCapped: t.boolean({
          description: 'Whether there are more than were counted.',
          resolve: async ({ total }) => (await total?.())?.capped ?? false,
        }),
      }),
    }),
  });
}

/** Counts at most once, whichever of the two fields asks. */
export function once(count: () => Promise<Total>): () => Promise<Total> {
  let counted: Promise<Total> | undefined;
  return () => {
    counted ??= count();
    return counted;
  };
}

type Args = Parameters<Parameters<typeof builder.queryField>[1]>[0]['arg'];

/** The arguments of every list. */
export const pageArgs = (arg: Args) => ({
  first: arg.int({ description: `How many at most; ${PAGE} when left out, ${MOST_ON_PAGE} at most.` }),
  after: arg.string({ description: 'The cursor to go on behind; from the beginning when left out.' }),
});

export interface PageArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

/** @throws GraphQLError INVALID_INPUT */
export function readPageArgs({ first, after }: PageArgs): { readonly limit: number; readonly after: string | null } {
  if (first != null && first < 1) throw invalid('first', 'first must be at least 1.');
  return { limit: Math.min(first ?? PAGE, MOST_ON_PAGE), after: after ?? null };
}

/** Runs a list; a cursor that is none of its own is the caller's mistake. */
export async function listed<T>(page: Promise<Page<T>>): Promise<Page<T>> {
  try {
    return await page;
  } catch (error) {
    if (error instanceof InvalidCursor) throw invalid('after', error.message);
    throw error;
  }
}

export function invalid(field: string, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'INVALID_INPUT', field } });
}
