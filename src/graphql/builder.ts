import SchemaBuilder from '@pothos/core';
import RelayPlugin from '@pothos/plugin-relay';
import type { GraphqlContext } from './context.ts';

/** The schema's builder. Imports no type file; only `schema.ts` imports them all. */
export const builder = new SchemaBuilder<{
  Context: GraphqlContext;
  DefaultFieldNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: Date; Output: number };
    JSON: { Input: unknown; Output: unknown };
  };
}>({
  plugins: [RelayPlugin],
  defaultFieldNullability: false,
  relay: {
    idFieldOptions: { description: 'The global id, which names this object among all types.' },
    nodeTypeOptions: { description: 'An object with a global id.' },
    nodeQueryOptions: {
      description: 'One object by its global id; null when the tenant has no such object.',
      args: { id: { description: 'The global id.' } },
    },
    nodesQueryOptions: {
      description: 'Objects by their global ids, in the order given; null for those the tenant does not have.',
      args: { ids: { description: 'The global ids.' } },
    },
  },
});

builder.queryType({ description: 'Reads. They see the last committed state.' });
builder.subscriptionType({ description: 'What happens, as it happens. Over WebSocket and as server-sent events.' });
builder.mutationType({
  description:
    'Writes. A refusal is a member of the result union; a top-level error means a call that is malformed as a whole, a missing right, or a fault. Fields are nullable so that a fault of one does not hide the answer of another.',
});
