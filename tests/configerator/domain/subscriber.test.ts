import { subscriberState } from '../../../configerator/domain/subscriber';

const content = { limits: { value: '1', version: 'v1' } };
const has = (path: string, version: string) => ({ path, version, revision: null, commit: null });

test('a subscriber lives on a content once it has all of it that it subscribes to, whatever its other paths are called', () => {
  expect(subscriberState(content, [has('limits', 'v0'), has('constructor', 'v9')])).toBe('waiting');
  expect(subscriberState(content, [has('limits', 'v1'), has('constructor', 'v9'), has('__proto__', 'v9')])).toBe(
    'live',
  );
});
