import { buildOptions } from '../../workers/build';

test('without a build workers are not versioned', () => {
  expect([buildOptions(undefined), buildOptions('')]).toEqual([{}, {}]);
});

test.each(['0.3.0', '104ff62a', 'a'.repeat(64)])(
  '%s names a build, and pins whatever does not say otherwise',
  (build) => {
    expect(buildOptions(build)).toEqual({
      workerDeploymentOptions: {
        version: { deploymentName: 'conveyor', buildId: build },
        useWorkerVersioning: true,
        defaultVersioningBehavior: 'PINNED',
      },
    });
  },
);

test.each(['two words', '.hidden', 'a/b', 'a'.repeat(65)])('%s cannot name a build, and what can is said', (build) => {
  expect(() => buildOptions(build)).toThrow(`CONVEYOR_WORKER_BUILD ${build} cannot name a build`);
});
