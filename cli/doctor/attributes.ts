import { SEARCH_ATTRIBUTES } from '../../domain/searchAttributes';
import type { DoctorCheck } from './check';

/** Values of temporal.api.enums.v1.IndexedValueType. */
const INDEXED = { KEYWORD: [2, 'Keyword'], KEYWORD_LIST: [7, 'KeywordList'] } as const;

/**
 * Whether a namespace has the search attributes that workflows set: if one is missing, every workflow that sets it
 * fails its task and retries for ever.
 */
export function attributeChecks(namespace: string, registered: Readonly<Record<string, number>>): DoctorCheck[] {
  const name = 'search attributes';
  const wrong = Object.entries(SEARCH_ATTRIBUTES).filter(
    ([attribute, type]) => registered[attribute] !== INDEXED[type][0],
  );
  if (wrong.length === 0)
    return [{ name, state: 'ok', found: `all ${Object.keys(SEARCH_ATTRIBUTES).length} in ${namespace}`, how: null }];
  const options = wrong.map(([attribute, type]) => `--name ${attribute} --type ${INDEXED[type][1]}`);
  const taken = wrong.filter(([attribute]) => registered[attribute] !== undefined).map(([attribute]) => attribute);
  return [
    {
      name,
      state: 'missing',
      found: `${namespace} lacks ${wrong.map(([attribute]) => attribute).join(', ')}${taken.length === 0 ? '' : `; of another type: ${taken.join(', ')}`}`,
      how: `temporal operator search-attribute create --namespace ${namespace} ${options.join(' ')}`,
    },
  ];
}
