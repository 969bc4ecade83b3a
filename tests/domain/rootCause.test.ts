import { rootCause } from '../../domain/rootCause';

const refused = new Error('connect ECONNREFUSED 127.0.0.1:4500');
/** The error of Node for a name with several addresses, none of which answers. */
const nowhere = Object.assign(new AggregateError([refused, refused], ''), { code: 'ECONNREFUSED' });
const itself = new Error('round and round');
itself.cause = itself;

test.each<[string, unknown, string]>([
  ['of an error without a cause is what it says', refused, refused.message],
  ['of a fetch is what its cause says', new TypeError('fetch failed', { cause: refused }), refused.message],
  ['of a chain is at its end', new Error('a', { cause: new Error('b', { cause: new Error('c') }) }), 'c'],
  ['without words is its code', new TypeError('fetch failed', { cause: nowhere }), 'ECONNREFUSED'],
  ['is not in a cause that says nothing', new Error('it broke', { cause: {} }), 'it broke'],
  ['of an error that is its own cause is what it says', itself, 'round and round'],
  ['of what is not an error is the thing itself', 'no more', 'no more'],
  ['of an error without anything is its name', new TypeError(), 'TypeError'],
  ['of nothing is nothing', undefined, 'undefined'],
])('the root cause %s', (_title, error, words) => expect(rootCause(error)).toBe(words));
