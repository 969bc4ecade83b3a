import { parsePipeline } from '../../../domain/spec/parse';

const written = (finder: string, action: string) => `
pipeline: hello
owners: [group:web]
artifacts:
  executable: { finder: tagged, with: { package: hello, tag: ${finder} } }
actions:
  test:
    type: custom
    inputs: [executable]
    with: { service: tests, suite: ${action} }
  deploy:
    type: deploy
    inputs: [executable]
    needs: [test]
    with:
      pushType: twine
      config: { jobs: [hello], image: ${action} }
      phases: [{ scope: '*', amount: 10%, bake: 5m }]
      healthChecks:
        - { name: errors, metric: m, threshold: { above: 0.10 } }
`;

const warnings = (finder: string, action = 'all') =>
  parsePipeline(written(finder, action))
    .problems.filter(({ code }) => code === 'number-rewritten')
    .map(({ line, path, message, hint }) => `${line} ${path}: ${message} → ${hint}`);

test('a version that YAML takes for a number is warned of where it would be handed on as another', () => {
  expect(warnings('1.10')).toEqual([
    "5 artifacts.executable.with.tag: 1.10 is the number 1.1, and that is what is handed on → write '1.10' where it is meant as it stands, as versions are, else 1.1",
  ]);
  expect(warnings('v', '1.0')).toEqual([
    expect.stringContaining('10 actions.test.with.suite: 1.0 is the number 1,') as string,
    expect.stringContaining('17 actions.deploy.with.config.image: 1.0 is the number 1,') as string,
  ]);
});

test('a number in the value of an offer is warned of, too', () => {
  const { problems } = parsePipeline(
    'pipeline: net\nowners: [user:alice]\nactions: {}\noffers:\n  - { name: vpc, value: { api: [{ at: 1.10 }] } }\n',
  );
  expect(problems).toMatchObject(
    expect.arrayContaining([
      expect.objectContaining({ code: 'number-rewritten', line: 5, path: 'offers[0].value.api[0].at' }),
    ]) as [],
  );
});

test.each(['007', '0x1F', '1e5', '12345678901234567890'])('so is %s, whose digits are lost', (text) =>
  expect(warnings(text)).toHaveLength(1),
);

test.each(["'1.10'", '1.1', '1.10.0', '12', '-3', 'v1.10', 'true'])('%s is handed on as it is written', (text) =>
  expect(warnings(text, text)).toEqual([]),
);
