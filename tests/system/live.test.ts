import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import type { ReleaseStatus } from '../../domain/views';
import { given } from './service';
import { Stack } from './stack';
import { eventually } from './waiting';

let stack: Stack;
// No process listens there.
beforeAll(async () => void (stack = await Stack.open({ urls: { twine: 'http://127.0.0.1:1/push-types/twine' } })));
afterAll(() => stack.close());

test('a push type that moved is asked at its new address by the workers that run, which wait for it meanwhile', async () => {
  const shop = await given(stack);
  const id = await shop.ships(2);
  await eventually('it asks for its push type', async () => {
    const { actions } = (await stack.client.status(id)) as ReleaseStatus;
    return actions.some(({ deploy }) => deploy !== null);
  });
  const config = parse(readFileSync(stack.env['CONVEYOR_CONFIG'] ?? '', 'utf8')) as {
    extensions: { name: string; url: string }[];
  };
  const extensions = config.extensions.map((one) =>
    one.name === 'twine' ? { ...one, url: `${stack.simulatorUrl}/push-types/twine` } : one,
  );
  stack.file('conveyor.config.yaml', stringify({ ...config, extensions }));
  await eventually('it has succeeded', async () => {
    const { state } = (await stack.client.status(id)) as ReleaseStatus;
    return state === 'succeeded';
  });
  expect(await shop.runs()).toEqual({ 2: 12 });
});
