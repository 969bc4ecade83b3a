import {
  ALL_VERBS,
  DEPLOY_VERBS,
  INPUTS,
  PIPELINE_VERBS,
  RELEASE_VERBS,
  verbRow,
  type InputName,
} from '../../domain/verbs';

test('workflows that run register their verbs in the order in which they always did', () => {
  const [deploy, release, pipeline] = [
    'pause resume cancel revert skip-phase skip-bake skip-health-check skip-window',
    'pause resume cancel revert pick retry skip-window override-offer',
    'hold unhold freeze unfreeze allow-artifact retire end-use undeploy',
  ].map((line) => line.split(' '));
  // Signals that came with the first task are dealt out in this order, so that a new verb may only be added at the end.
  expect(DEPLOY_VERBS.slice(0, deploy!.length)).toEqual(deploy);
  expect(RELEASE_VERBS.slice(0, release!.length)).toEqual(release);
  expect(PIPELINE_VERBS.slice(0, pipeline!.length)).toEqual(pipeline);
});

test.each(Object.keys(INPUTS) as InputName[])('some verb takes the input %s', (name) =>
  expect(ALL_VERBS.filter((verb) => verbRow(verb).inputs.includes(name))).not.toEqual([]),
);
