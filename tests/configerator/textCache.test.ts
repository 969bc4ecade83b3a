import { TextCache } from '../../configerator/textCache';

test('large texts are forgotten before they fill the memory, however few they are', () => {
  const cache = new TextCache(1_000);
  cache.set('a', 'x'.repeat(600));
  cache.set('a', 'y'.repeat(600));
  expect(cache.get('a')).toBe('y'.repeat(600));
  cache.set('b', 'x'.repeat(600));
  expect([cache.get('a'), cache.get('b')]).toEqual([undefined, 'x'.repeat(600)]);
  cache.set('c', 'z');
  expect([cache.get('b'), cache.get('c')]).toEqual(['x'.repeat(600), 'z']);
});
