import { followsBuilds } from '../../domain/builds';
import * as workflows from '../../workflows/index';

/** These live until a person ends them, or pass from run to run: on the build that began them they would need its workers for ever. */
const LASTING = ['artifactSweep', 'bugs', 'landing', 'lock', 'offers', 'pipeline', 'signOut', 'snapshot'];

test('each type of workflow that outlives a build of workers follows the current one, and all others keep theirs', () => {
  expect(Object.keys(workflows).filter(followsBuilds).sort()).toEqual(LASTING);
});
