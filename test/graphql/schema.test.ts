import {
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  printSchema,
} from 'graphql';
import { expect, it } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';

it('schema.graphql is the schema as it is printed; run vitest with -u after a change', async () => {
  await expect(`${printSchema(schema)}\n`).toMatchFileSnapshot('../../schema.graphql');
});

it('every type, field, argument, input field and enum value says what it is', () => {
  const undescribed = ourTypes().flatMap((type) => [
    ...(type.description ? [] : [type.name]),
    ...membersOf(type)
      .filter(([, description]) => !description?.trim())
      .map(([name]) => `${type.name}.${name}`),
  ]);
  expect(undescribed).toEqual([]);
});

it('a field that stands on several members of one union has one type there', () => {
  const union = (name: string) => schema.getType(name) as unknown as { getTypes(): readonly GraphQLNamedType[] };
  for (const name of Object.keys(schema.getTypeMap()).filter((type) => /^[A-Z]\w+Result$/.test(type))) {
    const seen = new Map<string, string>();
    for (const member of union(name).getTypes()) {
      if (!isObjectType(member)) continue;
      for (const field of Object.values(member.getFields())) {
        expect([name, field.name, seen.get(field.name) ?? String(field.type)]).toEqual([
          name,
          field.name,
          String(field.type),
        ]);
        seen.set(field.name, String(field.type));
      }
    }
    expect(seen.size).toBeGreaterThan(3);
  }
});

function ourTypes(): readonly GraphQLNamedType[] {
  const builtIn = /^__|^(String|Int|Float|Boolean|ID)$/;
  return Object.values(schema.getTypeMap()).filter(({ name }) => !builtIn.test(name));
}

function membersOf(type: GraphQLNamedType): readonly [string, string | null | undefined][] {
  if (isEnumType(type)) return type.getValues().map(({ name, description }) => [name, description]);
  if (isInputObjectType(type))
    return Object.values(type.getFields()).map(({ name, description }) => [name, description]);
  if (!isObjectType(type) && !isInterfaceType(type)) return [];
  return Object.values(type.getFields()).flatMap(
    ({ name, description, args }): [string, string | null | undefined][] => [
      [name, description],
      ...args.map((arg): [string, string | null | undefined] => [`${name}(${arg.name})`, arg.description]),
    ],
  );
}
