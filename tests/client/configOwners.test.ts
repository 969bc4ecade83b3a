import { pathsKnownToTemporal, pathsOfPipelines } from '../../client/configOwners';
import { freePorts } from '../../cli/stack/ports';

const wants = (pipeline: string, repository: string, paths: readonly string[]) => ({
  ...{ pipeline, subscribedAtMs: 0, subscriptions: [{ artifact: 'change', with: { repository, paths } }] },
});

test('the paths of a repository are those of all pipelines that release it, or none where one could be missing', async () => {
  const all = [wants('feed', 'flags', ['feed/']), wants('ads', 'flags', ['ads/']), wants('kv', 'other', ['kv/'])];
  const answering = (isBroken: boolean) => ({
    subscriptions: async function* () {
      yield* await Promise.resolve(all);
      if (isBroken) throw new Error('Temporal went away');
    },
  });
  expect(await pathsOfPipelines(answering(false), 'flags')).toEqual([
    { pipeline: 'feed', paths: ['feed/'] },
    { pipeline: 'ads', paths: ['ads/'] },
  ]);
  expect(await pathsOfPipelines(answering(true), 'flags')).toEqual([]);
});

test('a proposal does not wait for Temporal where it is not', async () => {
  const [port] = await freePorts(1);
  expect(await pathsKnownToTemporal({ address: `127.0.0.1:${port}` }, 'flags')).toEqual([]);
});
