import { liveArtifactFinder } from '../../../sdk/conform/live/others';
import { examples, type Register } from '../command';
import { objectOption, reachableService, runHelperProgram, withCommon, type CommonOptions } from './options';
import { runConformance } from './run';

interface FinderOptions extends CommonOptions {
  readonly with: string;
  readonly other: string;
  readonly makeVersion?: string;
}

export const conformArtifactFinder: Register = (group, cli) => {
  withCommon(
    group
      .command('artifact-finder <url>')
      .description('asks for artifacts; changes nothing without --make-version')
      .requiredOption('--with <json>', 'a subscription with at least one version')
      .requiredOption('--other <json>', 'a subscription without any version')
      .option('--make-version <program>', 'a program that makes a newer version for the first and prints its name'),
  )
    .addHelpText(
      'after',
      examples(
        `conveyor conform artifact-finder http://localhost:4640 --with '{"image":"web"}' --other '{"image":"none"}'`,
        `conveyor conform artifact-finder http://localhost:4640 --with '{"image":"web"}' --other '{"image":"none"}' \\`,
        '    --make-version ./push-an-image.sh',
      ),
    )
    .action(
      cli.handle<FinderOptions, [string]>((call, url) => {
        const { io, options } = call;
        const { makeVersion } = options;
        const live = liveArtifactFinder({
          ...reachableService(io, url, options),
          ...{ with: objectOption('--with', options.with), other: objectOption('--other', options.other) },
          make: makeVersion === undefined ? undefined : () => runHelperProgram(makeVersion, []),
        });
        return runConformance(call, live);
      }),
    );
};
