import { ApolloClient, gql, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { subscriptionExchange, Client as UrqlClient } from '@urql/core';
import { createClient as createSseClient } from 'graphql-sse';
import { createClient as createWsClient, type Client as WsClient } from 'graphql-ws';
import WebSocket from 'ws';
import { collect, type Messages } from './live-rig.ts';

/** The clients that callers have, each set up as its own documentation says. */
export interface PublicClient {
  follow(document: string, variables: Record<string, unknown>): Messages;
  close(): void;
}

export type MakeClient = (url: string, token: string) => PublicClient;

const overWebSocket = (url: string, token: string): WsClient =>
  createWsClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    connectionParams: { authorization: `Bearer ${token}` },
    webSocketImpl: WebSocket,
  });

const graphqlWs: MakeClient = (url, token) => {
  const client = overWebSocket(url, token);
  return {
    follow: (query, variables) => collect((sink) => client.subscribe({ query, variables }, sink)),
    close: () => void client.dispose(),
  };
};

const graphqlSse: MakeClient = (url, token) => {
  const client = createSseClient({ url: `${url}/graphql`, headers: { Authorization: `Bearer ${token}` } });
  return {
    follow: (query, variables) => collect((sink) => client.subscribe({ query, variables }, sink)),
    close: () => client.dispose(),
  };
};

const urql: MakeClient = (url, token) => {
  const socket = overWebSocket(url, token);
  const forward = subscriptionExchange({
    forwardSubscription: ({ query = '', variables }) => ({
      // The two libraries write one shape of a result in two ways.
      subscribe: (sink) => ({ unsubscribe: socket.subscribe({ query, variables: { ...variables } }, sink as never) }),
    }),
  });
  const client = new UrqlClient({ url: `${url}/graphql`, exchanges: [forward], preferGetMethod: false });
  return {
    follow: (document, variables) =>
      collect((sink) => {
        const followed = client
          .subscription(document, variables)
          .subscribe(({ data, error }) => (error === undefined ? sink.next({ data }) : sink.error(error)));
        return () => followed.unsubscribe();
      }),
    close: () => void socket.dispose(),
  };
};

const apollo: MakeClient = (url, token) => {
  const socket = overWebSocket(url, token);
  const client = new ApolloClient({ link: new GraphQLWsLink(socket), cache: new InMemoryCache() });
  return {
    follow: (document, variables) =>
      collect((sink) => {
        const followed = client.subscribe({ query: gql(document), variables, fetchPolicy: 'no-cache' }).subscribe({
          next: ({ data, error }) => (error === undefined ? sink.next({ data }) : sink.error(error)),
          error: (error: unknown) => sink.error(error),
          complete: () => sink.complete(),
        });
        return () => followed.unsubscribe();
      }),
    close() {
      client.stop();
      void socket.dispose();
    },
  };
};

export const PUBLIC_CLIENTS = Object.entries({
  'graphql-ws': graphqlWs,
  'graphql-sse': graphqlSse,
  urql,
  Apollo: apollo,
});
