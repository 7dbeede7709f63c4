import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

// biome-ignore lint/suspicious/noExplicitAny: a document and an answer are whatever JSON the server sent.
type Json = any;

/**
 * Holds answers against the document. The document leaves room for fields that a later version may add; here an answer
 * with a field that is not described fails, so that none is forgotten.
 */
export interface Answer {
  readonly method: string;
  /** With or without a query. */
  readonly path: string;
  readonly status: number;
  readonly body: Json;
}

/** @returns a function that throws where an answer is not as the document has it */
export function createOpenapiCheck(document: Json): (answer: Answer) => void {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, validateFormats: false });
  ajv.addVocabulary(['components', 'paths']);
  ajv.addSchema({ $id: 'openapi', components: closed(document.components), paths: closed(document.paths) });
  const paths = Object.keys(document.paths).map((path) => ({ path, matches: patternOf(path) }));
  const known = new Map<string, ValidateFunction>();

  /** The schema of the answers of one route with one status; that of errors where there is no route. */
  function schemaFor({ method, path, status }: Answer): ValidateFunction {
    const [bare = ''] = path.split('?');
    const route = paths.find(({ matches }) => matches.test(bare))?.path;
    const operation = route === undefined ? undefined : document.paths[route][method.toLowerCase()];
    const pointer =
      operation === undefined
        ? 'components/schemas/Error'
        : `paths/${escaped(route ?? '')}/${method.toLowerCase()}/responses/${status}/content/application~1json/schema`;
    if (operation === undefined && status !== 404 && status !== 405) {
      throw new Error(`${method} ${path} answered ${status}, and the document has no such route`);
    }
    if (operation !== undefined && operation.responses[status] === undefined) {
      throw new Error(`${method} ${path} answered ${status}, which the document does not have`);
    }
    const ready = known.get(pointer) ?? ajv.compile({ $ref: `openapi#/${pointer}` });
    known.set(pointer, ready);
    return ready;
  }

  return (answer) => {
    const isAsDescribed = schemaFor(answer);
    if (isAsDescribed(answer.body)) return;
    const { method, path, status, body } = answer;
    const faults = ajv.errorsText(isAsDescribed.errors, { dataVar: 'body' });
    throw new Error(
      `${method} ${path} answered ${status} otherwise than documented: ${faults}\n${JSON.stringify(body)}`,
    );
  };
}

/** The same with no room for more: an object that says which properties it has has no others. */
function closed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inside = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  const isOpen =
    inside.type === 'object' && inside.properties !== undefined && inside.additionalProperties === undefined;
  return isOpen ? { ...inside, additionalProperties: false } : inside;
}

function patternOf(path: string): RegExp {
  const parts = path.split(/\{\w+\}/).map((part) => part.replaceAll(/[.*+?^$()[\]\\|]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^/]+')}$`);
}

/** A key as a part of a JSON pointer that stands in a URI. */
function escaped(key: string): string {
  return encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));
}
