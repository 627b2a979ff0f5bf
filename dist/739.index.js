const id=739,ids=[739],modules={7680:((__unused_webpack___webpack_module__,__webpack_exports__,__webpack_require__)=>{__webpack_require__.d(__webpack_exports__,{AF:()=>buildEnvironment,F5:()=>scriptEnvironment,PG:()=>listPathFolders,qE:()=>listToolFolders});var node_path__WEBPACK_IMPORTED_MODULE_0__=__webpack_require__(6760),_host_program_js__WEBPACK_IMPORTED_MODULE_1__=__webpack_require__(7722);const listWords=text=>new Set(text.split(/\s+/u)),PLAIN=listWords(`PATH LANG LANGUAGE TZ TERM CI RUNNER_OS RUNNER_ARCH ImageOS ImageVersion
  GITHUB_ACTIONS GITHUB_ACTOR GITHUB_API_URL GITHUB_BASE_REF GITHUB_EVENT_NAME GITHUB_GRAPHQL_URL GITHUB_HEAD_REF
  GITHUB_JOB GITHUB_REF GITHUB_REF_NAME GITHUB_REF_TYPE GITHUB_REPOSITORY GITHUB_REPOSITORY_OWNER GITHUB_RUN_ATTEMPT
  GITHUB_RUN_ID GITHUB_RUN_NUMBER GITHUB_SERVER_URL GITHUB_SHA GITHUB_WORKFLOW GITHUB_WORKSPACE
  RUSTUP_TOOLCHAIN CARGO_HOME LD_LIBRARY_PATH`),TOOLS=listWords(`RUNNER_TOOL_CACHE AGENT_TOOLSDIRECTORY ANDROID_HOME ANDROID_SDK_ROOT DOTNET_ROOT GOMODCACHE GOPATH GOROOT GRADLE_HOME M2_HOME MAVEN_HOME
  NVM_DIR PYENV_ROOT RUSTUP_HOME SDKMAN_DIR VOLTA_HOME pythonLocation Python_ROOT_DIR PNPM_HOME`),TOOL_FAMILIES=/^(?:JAVA_HOME(?:_\w+)?|GOROOT_\w+)$/u,LOCALE=/^LC_[A-Z]+$/u,NETWORK=listWords(`HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy NODE_EXTRA_CA_CERTS
  SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO`),GIT={GIT_TERMINAL_PROMPT:"0",GIT_CONFIG_COUNT:"1",GIT_CONFIG_KEY_0:"safe.directory",GIT_CONFIG_VALUE_0:"*"};function buildEnvironment(options){const{environment,shellNetwork,isSecret,home,tmp}=options,passed=new Set(options.passEnv),result={LANG:"C.UTF-8",TERM:"dumb"};for(const[name,value]of Object.entries(environment)){if(value===void 0)continue;const isNetwork=shellNetwork&&NETWORK.has(name),isPlain=PLAIN.has(name)||LOCALE.test(name)||isTool(name)||passed.has(name);(isNetwork||isPlain&&!isSecret(value))&&(result[name]=value)}return{...result,PATH:listPathFolders(environment.PATH).join(":")||"/usr/local/bin:/usr/bin:/bin",HOME:home,TMPDIR:tmp,...GIT}}function scriptEnvironment(tmp){return{..._host_program_js__WEBPACK_IMPORTED_MODULE_1__.Qi,HOME:"/nonexistent",TMPDIR:tmp,GIT_CONFIG_GLOBAL:"/dev/null",GIT_CONFIG_NOSYSTEM:"1",...GIT}}function listPathFolders(path){return(path??"").split(":").filter(folder=>folder.startsWith("/"))}function listToolFolders(environment){const named=Object.entries(environment).filter(([name])=>isTool(name));return[...new Set(named.flatMap(([,value])=>value?.startsWith("/")?[(0,node_path__WEBPACK_IMPORTED_MODULE_0__.resolve)(value)]:[]))]}function isTool(name){return TOOLS.has(name)||TOOL_FAMILIES.test(name)}}),176:((__unused_webpack___webpack_module__,__webpack_exports__,__webpack_require__)=>{__webpack_require__.d(__webpack_exports__,{e:()=>planGit,w:()=>CLEAN});var node_fs__WEBPACK_IMPORTED_MODULE_0__=__webpack_require__(3024),node_fs_promises__WEBPACK_IMPORTED_MODULE_1__=__webpack_require__(1455),node_path__WEBPACK_IMPORTED_MODULE_2__=__webpack_require__(6760),_errors_js__WEBPACK_IMPORTED_MODULE_3__=__webpack_require__(7406),_files_names_js__WEBPACK_IMPORTED_MODULE_9__=__webpack_require__(3509),_files_read_bounded_js__WEBPACK_IMPORTED_MODULE_4__=__webpack_require__(585),_text_limits_js__WEBPACK_IMPORTED_MODULE_5__=__webpack_require__(6473),_host_program_js__WEBPACK_IMPORTED_MODULE_6__=__webpack_require__(7722),_sandbox_js__WEBPACK_IMPORTED_MODULE_7__=__webpack_require__(5218),_system_root_js__WEBPACK_IMPORTED_MODULE_8__=__webpack_require__(2341);const KEPT=`HEAD commondir config config.worktree gitdir index info modules objects packed-refs refs reftable shallow
  worktrees`.split(/\s+/u),KEYS=String.raw`core\.(autocrlf|eol|filemode|ignorecase|logallrefupdates|precomposeunicode|safecrlf|symlinks)
  core\.(repositoryformatversion|sparsecheckout|sparsecheckoutcone) user\.(name|email) index\.version
  extensions\.(objectformat|partialclone|refstorage|worktreeconfig) remote\.[^\n]+\.(fetch|url|promisor)
  branch\.[^\n]+\.(merge|remote) submodule\.[^\n]+\.(active|url)`.split(/\s+/u),FUNCTIONS=String.raw`
export LC_ALL=C
# git reads the config: it knows quotes, escapes and line continuations. In the checkout it would read others, too.
list_allowed() {
  { cd / && git config --file - --no-includes --list -z; } 2>/dev/null | tr '\0\n' '\n\r' | sed -E '
    s/^[^\r]*$/&\rtrue/
    s,://[^/[:space:]]*@,://,g
    s/["\\]/\\&/g
    s/\r/\n/
    s/\r/\\n/g
    /^(${KEYS.join("|")})\n/!d
    s/^([^.]+)\.([^\n]+)\.([^.\n]+)\n(.*)/[\1 "\2"] \3 = "\4"/
    s/^([^.]+)\.([^.\n]+)\n(.*)/[\1] \2 = "\3"/'
}
clean() {
  [ -d "$1" ] || return 0
  find "$1" -mindepth 1 -maxdepth 1 ! \( \( -type d -o -type f \) \
    \( -name ${KEPT.join(" -o -name ")} \) \) -exec rm -rf -- {} +
  for config in "$1/config" "$1/config.worktree"; do
    [ ! -f "$config" ] || { rm -f -- "$config"; list_allowed > "$config"; } < "$config"
  done
  clean_inner "$1/modules"
  clean_inner "$1/worktrees"
}
# The name of a submodule may have slashes. With a thousand of them a shell would call no function any more.
clean_inner() {
  for inner in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    if [ -L "$inner" ] || [ -f "$inner" ] || [ ${"${#inner}"} -gt 1000 ]; then rm -rf -- "$inner"
    elif [ -f "$inner/HEAD" ]; then clean "$inner"
    elif [ -d "$inner" ]; then clean_inner "$inner"; fi
  done
}
# Makes an ordinary .git of the git folder $1, of $2, which it shares with other worktrees, and of their objects in $3.
adopt() {
  rm -rf .git
  mkdir -p .git/objects/info
  printf '%s\n' "$3" > .git/objects/info/alternates
  for from in "$2/config" "$2/info" "$2/packed-refs" "$2/refs" "$2/shallow" \
    "$1/HEAD" "$1/config.worktree" "$1/index" "$1/info"; do
    [ ! -e "$from" ] || cp -RPp -- "$from" .git
  done
}`,FIND_CREDENTIALS=String.raw`
find "$@" -name objects -prune -o -type f \( -name config -o -name config.worktree \) -exec cat {} + |
grep -qiE '^[[:space:]]*\[(credential|include)|extraheader[[:space:]]*=|https?://[^/[:space:]]*@'`,CLEAN="clean.sh";async function planGit(run,workspace,signal){const removed=(await(0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.readdir)(workspace)).filter(name=>_files_names_js__WEBPACK_IMPORTED_MODULE_9__.jW.test(name)),found=new Set,objects=[],lines=[FUNCTIONS,...removed.map(name=>`rm -rf -- ${(0,_sandbox_js__WEBPACK_IMPORTED_MODULE_7__.r7)(name)}`)];for(const path of await listGitPaths(workspace,signal)){const file=(0,_system_root_js__WEBPACK_IMPORTED_MODULE_8__.eF)(path),target=/^gitdir: (.+)\n?$/u.exec((0,_files_read_bounded_js__WEBPACK_IMPORTED_MODULE_4__.Ht)(file,_text_limits_js__WEBPACK_IMPORTED_MODULE_5__.Pz.pointer)??"")?.[1],folder=target===void 0?file:(0,_system_root_js__WEBPACK_IMPORTED_MODULE_8__.eF)((0,node_path__WEBPACK_IMPORTED_MODULE_2__.resolve)((0,node_path__WEBPACK_IMPORTED_MODULE_2__.dirname)(path),target)),shared=(0,_files_read_bounded_js__WEBPACK_IMPORTED_MODULE_4__.Ht)((0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(folder,"commondir"),_text_limits_js__WEBPACK_IMPORTED_MODULE_5__.Pz.pointer)?.trim()??".",common=(0,_system_root_js__WEBPACK_IMPORTED_MODULE_8__.eF)((0,node_path__WEBPACK_IMPORTED_MODULE_2__.resolve)(folder,shared));for(const place of[folder,common])place!==workspace&&(0,_system_root_js__WEBPACK_IMPORTED_MODULE_8__.UO)(place,workspace)&&(0,node_fs__WEBPACK_IMPORTED_MODULE_0__.existsSync)(`${place}/`)&&found.add(place);const store=(0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(common,"objects");!(path===(0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(workspace,".git"))||(0,_system_root_js__WEBPACK_IMPORTED_MODULE_8__.UO)(folder,workspace)||!(0,node_fs__WEBPACK_IMPORTED_MODULE_0__.existsSync)(store)||(objects.push(store),found.add(path),lines.push(`adopt ${[folder,common,store].map(_sandbox_js__WEBPACK_IMPORTED_MODULE_7__.r7).join(" ")}`))}const isInner=place=>/\/\.git\/./u.test(place.slice(workspace.length)),folders=[...found].filter(place=>!isInner(place)).map(place=>(0,node_path__WEBPACK_IMPORTED_MODULE_2__.relative)(workspace,place));lines.push(...folders.map(folder=>`clean ${(0,_sandbox_js__WEBPACK_IMPORTED_MODULE_7__.r7)(`./${folder}`)}`)),await(0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.writeFile)((0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(run,CLEAN),lines.join(`
`));const search=["-c",FIND_CREDENTIALS,"sh",...found,...objects.map(node_path__WEBPACK_IMPORTED_MODULE_2__.dirname)],options={withinMs:3e4,signal},hasLogin=found.size>0&&(await(0,_host_program_js__WEBPACK_IMPORTED_MODULE_6__.l6)("/bin/sh",search,options))?.exitCode!==1;return{folders,objects,hasCredentials:removed.length>0||hasLogin}}async function listGitPaths(workspace,signal){const words=["find",workspace,"-mindepth","1","-name",".git","-prune","-print0"],found=await(0,_host_program_js__WEBPACK_IMPORTED_MODULE_6__.l6)("/usr/bin/env",words,{withinMs:3e4,signal});if(found===null||found.exitCode>1||found.stdout.includes("\uFFFD"))throw new _errors_js__WEBPACK_IMPORTED_MODULE_3__.ES("The git folders of the checkout could not be listed.");return found.stdout.split("\0").slice(0,-1)}}),8120:((__unused_webpack___webpack_module__,__webpack_exports__,__webpack_require__)=>{__webpack_require__.d(__webpack_exports__,{Ld:()=>makeRunFolders,Q4:()=>COPY_WITHIN,cu:()=>identityOf,v$:()=>removeFolder,xQ:()=>copyWorkspace});var node_fs_promises__WEBPACK_IMPORTED_MODULE_0__=__webpack_require__(1455),node_path__WEBPACK_IMPORTED_MODULE_1__=__webpack_require__(6760),_errors_js__WEBPACK_IMPORTED_MODULE_2__=__webpack_require__(7406),_git_config_js__WEBPACK_IMPORTED_MODULE_3__=__webpack_require__(176),_host_program_js__WEBPACK_IMPORTED_MODULE_4__=__webpack_require__(7722);async function identityOf(workspace){const uid=process.getuid?.()??-1;if(uid!==0)return{uid,gid:process.getgid?.()??-1};const owner=await(0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.stat)(workspace);return{uid:owner.uid,gid:owner.gid}}async function makeRunFolders(run,workspace){for(const name of["context","home","tmp","layer","private","root"])await(0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.mkdir)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(run,name),{mode:name==="context"?493:448});await(0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.symlink)(workspace,(0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(run,"lower"))}const COPY_WITHIN=3e5;async function copyWorkspace(run,workspace,signal){const args=["-c",'set -e; cp -a -- "$2" "$3"; cd "$3"; . "$1"',"sh",(0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(run,_git_config_js__WEBPACK_IMPORTED_MODULE_3__.w),workspace,(0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(run,"layer","copy")],copied=await(0,_host_program_js__WEBPACK_IMPORTED_MODULE_4__.l6)("/bin/sh",args,{withinMs:COPY_WITHIN,signal});if(copied?.exitCode===0)return;const why=copied===null?`not within ${COPY_WITHIN/1e3} s`:copied.stderr.split(`
`)[0]??"";throw new _errors_js__WEBPACK_IMPORTED_MODULE_2__.ES(`The checkout could not be copied to RUNNER_TEMP: ${why.trim()}.`)}const REMOVAL=`{
  ulimit -t 60 2>/dev/null
  rm -rf -- "$1" && exit
  chmod -R u+rwx -- "$1"
  exec rm -rf -- "$1"
} 2>/dev/null &
wait`;async function removeFolder(folder,withinMs){const shell=(0,_host_program_js__WEBPACK_IMPORTED_MODULE_4__.Kp)("sh");shell!==null?await(0,_host_program_js__WEBPACK_IMPORTED_MODULE_4__.l6)(shell,["-c",REMOVAL,"sh",folder],{withinMs}):await(0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.rm)(folder,{recursive:!0,force:!0}).catch(()=>{})}}),2341:((__unused_webpack___webpack_module__,__webpack_exports__,__webpack_require__)=>{__webpack_require__.d(__webpack_exports__,{Ox:()=>planRoot,UO:()=>isWithin,eF:()=>realOrSame});var node_fs__WEBPACK_IMPORTED_MODULE_0__=__webpack_require__(3024),node_path__WEBPACK_IMPORTED_MODULE_1__=__webpack_require__(6760),_environment_js__WEBPACK_IMPORTED_MODULE_2__=__webpack_require__(7680);const SYSTEM=`/usr /usr/local /bin /sbin /lib /lib32 /lib64 /libx32 /nix /var/lib/gems
  /home/linuxbrew/.linuxbrew`.split(/\s+/u),ETC=`alternatives ca-certificates ca-certificates.conf chromium.d crypto-policies debian_version dotnet fonts gai.conf
  group host.conf hosts java* ld.so.* localtime lsb-release magic mailcap maven mime.types mono nsswitch.conf
  openssl os-release passwd perl php pki/ca-trust pki/java pki/tls/cert.pem pki/tls/certs pki/tls/openssl.cnf protocols
  python* resolv.conf ruby* services shells ssl/cert.pem ssl/certs ssl/java ssl/openssl.cnf terminfo timezone
  xml`.split(/\s+/u),OPT=`android az dotnet go google gradle* hostedtoolcache homebrew java* jdk* julia* maven* microsoft node* pipx
  pipx_bin python* rh ruby* rust* swift*`.split(/\s+/u),HOME=`.bun/bin .bun/install
  .cache/Cypress .cache/bazelisk .cache/ms-playwright .cache/node .cache/puppeteer
  .cache/pypoetry/virtualenvs .cache/selenium
  .cargo/bin .cargo/git .cargo/registry
  .dart-sdk .deno/bin
  .dotnet/dotnet .dotnet/host .dotnet/packs .dotnet/sdk .dotnet/shared .dotnet/tools
  .ghcup/bin .ghcup/ghc .ghcup/lib
  .gradle/jdks .gradle/wrapper
  .juliaup/bin .julia/artifacts .julia/packages
  .local/bin .local/lib .local/pipx/venvs .local/share/mise/installs .local/share/mise/shims .local/share/pnpm
  .local/share/pipx/venvs .local/share/uv/python .local/share/uv/tools .local/state/fnm_multishells
  .local/share/fnm/node-versions
  .m2/repository .m2/wrapper
  .mix/archives .mix/elixir
  .nuget/packages .nvm
  .pub-cache/hosted .pyenv .rbenv .asdf/installs .asdf/shims .asdf/plugins
  .rustup
  .sdkman/candidates .volta/bin .volta/tools
  .composer/vendor .config/composer/vendor
  .yarn/berry/cache
  go/bin go/pkg setup-pnpm`.split(/\s+/u),BESIDE_BIN=/^(?:lib.*|share|include|conf)$/u,BESIDE_BIN_IN_HOME=/^lib(?:32|64|exec)?$/u;function planRoot(options){const{environment,readable}=options,home=realOrSame(options.home),closed=[options.workspace,options.runFolder].map(realOrSame),ours=[...closed,home,realOrSame(options.runnerTemp)],toolCaches=["RUNNER_TOOL_CACHE","AGENT_TOOLSDIRECTORY"].map(name=>environment[name]??""),wanted=[...SYSTEM,...listEntries("/etc",ETC).filter(at=>options.shellNetwork||at!=="/etc/resolv.conf"),...listEntries("/opt",OPT),...HOME.map(name=>(0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(home,name)),...toolCaches,...(0,_environment_js__WEBPACK_IMPORTED_MODULE_2__.qE)(environment).filter(at=>!isWithin(realOrSame(at),home)),...(0,_environment_js__WEBPACK_IMPORTED_MODULE_2__.PG)(environment.PATH).filter(at=>!holdsRow(at,home)).flatMap(at=>[at,...listBeside(at,home)]),...readable],entries=new Map,isAllowed=place=>!ours.some(one=>isWithin(one,place))&&!closed.some(one=>isWithin(place,one)),isShown=place=>[...entries.keys()].some(at=>isWithin(place,at)),absolute=wanted.filter(place=>place.startsWith("/")).map(at=>(0,node_path__WEBPACK_IMPORTED_MODULE_1__.resolve)(at));for(const at of[...new Set(absolute)].sort()){const from=realOrNull(at);if(!(from===null||!isAllowed(from))){if(SYSTEM.includes(at)&&(0,node_fs__WEBPACK_IMPORTED_MODULE_0__.lstatSync)(at).isSymbolicLink()){entries.set(at,{kind:"link",from:(0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readlinkSync)(at),at});continue}for(const place of at.startsWith("/etc/")?[at]:[from,at])(!isShown(place)||place==="/usr/local")&&isAllowed(place)&&entries.set(place,{kind:"show",from,at:place})}}return[...entries.values()].sort((a,b)=>a.at<b.at?-1:1)}function holdsRow(folder,home){const real=realOrSame(folder);return HOME.some(name=>(0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(home,name)!==real&&isWithin((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(home,name),real))}function listEntries(folder,names){const isListed=name=>names.some(one=>one.endsWith("*")?name.startsWith(one.slice(0,-1)):name===one),nested=names.filter(name=>name.includes("/"));return[...listNames(folder).filter(isListed),...nested].map(name=>(0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(folder,name)).filter(isReadableByOthers)}function isReadableByOthers(place){const stats=(0,node_fs__WEBPACK_IMPORTED_MODULE_0__.statSync)(place,{throwIfNoEntry:!1});if(stats===void 0)return!1;const needed=stats.isDirectory()?5:4;return(stats.mode&needed)===needed}function listBeside(folder,home){const parent=(0,node_path__WEBPACK_IMPORTED_MODULE_1__.dirname)(folder),realParent=realOrSame(parent);if(folder.endsWith("/node_modules/.bin"))return[parent];if(!/\/s?bin$/u.test(folder)||realParent===home)return[];const wanted=isWithin(realParent,home)?BESIDE_BIN_IN_HOME:BESIDE_BIN;return listNames(parent).filter(name=>wanted.test(name)).map(name=>(0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(parent,name))}function listNames(folder){try{return(0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readdirSync)(folder)}catch{return[]}}function isWithin(path,folder){return path===folder||path.startsWith(folder==="/"?"/":`${folder}/`)}function realOrSame(path){return realOrNull(path)??(0,node_path__WEBPACK_IMPORTED_MODULE_1__.resolve)(path)}function realOrNull(path){try{return(0,node_fs__WEBPACK_IMPORTED_MODULE_0__.realpathSync)(path)}catch{return null}}})};export{id,ids,modules};
