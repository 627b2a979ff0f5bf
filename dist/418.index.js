const id=418,ids=[418],modules={7036:((__unused_webpack___webpack_module__,__webpack_exports__,__webpack_require__)=>{__webpack_require__.d(__webpack_exports__,{D:()=>createBwrapBackend,f:()=>probeBwrap});var node_fs__WEBPACK_IMPORTED_MODULE_0__=__webpack_require__(3024),node_fs_promises__WEBPACK_IMPORTED_MODULE_1__=__webpack_require__(1455),node_path__WEBPACK_IMPORTED_MODULE_2__=__webpack_require__(6760),_host_program_js__WEBPACK_IMPORTED_MODULE_3__=__webpack_require__(7722),_system_root_js__WEBPACK_IMPORTED_MODULE_4__=__webpack_require__(2341);const KERNEL=["--dev","/dev","--proc","/proc"];function namespaceArguments(shellNetwork){return`--unshare-user --disable-userns --unshare-pid --unshare-ipc --unshare-uts${shellNetwork?"":" --unshare-net"} --die-with-parent --new-session --as-pid-1`.split(" ")}async function probeBwrap(bwrap,shellNetwork){const words=[bwrap,...namespaceArguments(shellNetwork),"--ro-bind","/","/",...KERNEL,"/bin/true"];return(0,_host_program_js__WEBPACK_IMPORTED_MODULE_3__.ng)(words,"bwrap did not end")}async function createBwrapBackend(bwrap,plan){const{run,shellNetwork}=plan,writable={tmp:(0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(run,"tmp"),home:(0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(run,"home"),layer:(0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(run,"layer","copy")},mounts=(0,_system_root_js__WEBPACK_IMPORTED_MODULE_4__.dx)(plan,writable);for(const{kind,from}of mounts)kind==="open"&&await(0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.mkdir)(from,{recursive:!0,mode:448});const words=[bwrap,...namespaceArguments(shellNetwork),...KERNEL,...(0,node_fs__WEBPACK_IMPORTED_MODULE_0__.existsSync)("/proc/keys")?["--ro-bind","/dev/null","/proc/keys"]:[],...mounts.flatMap(({kind,from,at})=>[MOUNT[kind],from,at]),"--remount-ro","/","/bin/sh","-c",'"$@"; exit $?',"sh"];return{name:"bwrap",layer:"copy",words,asRoot:[],endsWithGroup:!0,killInside:async()=>{},findFailure:()=>(0,_host_program_js__WEBPACK_IMPORTED_MODULE_3__.ng)([...words,"/bin/sh","-c",":"],"bwrap did not end"),close:async()=>{}}}const MOUNT={link:"--symlink",show:"--ro-bind-try",open:"--bind"}}),5418:((__unused_webpack___webpack_module__,__webpack_exports__,__webpack_require__)=>{__webpack_require__.d(__webpack_exports__,{detectBackend:()=>detectBackend,u_:()=>isContainer});var node_fs__WEBPACK_IMPORTED_MODULE_0__=__webpack_require__(3024),node_fs_promises__WEBPACK_IMPORTED_MODULE_1__=__webpack_require__(1455),node_path__WEBPACK_IMPORTED_MODULE_2__=__webpack_require__(6760),_errors_js__WEBPACK_IMPORTED_MODULE_3__=__webpack_require__(7406),_bwrap_js__WEBPACK_IMPORTED_MODULE_4__=__webpack_require__(7036),_host_program_js__WEBPACK_IMPORTED_MODULE_5__=__webpack_require__(7722),_unshare_js__WEBPACK_IMPORTED_MODULE_6__=__webpack_require__(8255);async function detectBackend(options){const{mode,shellNetwork,programFolders,platform=process.platform}=options;if(mode==="off")return{kind:"none",error:new _errors_js__WEBPACK_IMPORTED_MODULE_3__.ES("The sandbox is off.")};if(platform!=="linux"){const text2=`The sandbox needs Linux, and this machine runs ${platform==="darwin"?"macOS":platform==="win32"?"Windows":platform}. Fix: run it on Linux, in a workflow with \`runs-on: ubuntu-latest\`. ${WAY_OUT}`;return{kind:"none",error:new _errors_js__WEBPACK_IMPORTED_MODULE_3__.ES(text2)}}const find=name=>(0,_host_program_js__WEBPACK_IMPORTED_MODULE_5__.Kp)(name,programFolders),problems=[],bwrap=process.getuid?.()===0?null:find("bwrap");if(bwrap!==null){const problem=await(0,_bwrap_js__WEBPACK_IMPORTED_MODULE_4__.f)(bwrap,shellNetwork);if(problem===null)return{kind:"bwrap",bwrap};problems.push(problem)}const programs=await findUnshare(find);if(programs!==null){const problem=await(0,_unshare_js__WEBPACK_IMPORTED_MODULE_6__.H)(programs,shellNetwork);if(problem===null)return{kind:"unshare",programs};problems.push(problem)}const inContainer=await isContainer(),text=problems.length===0?describeMissing(inContainer):describeBroken(problems.join("; "),inContainer);return{kind:"none",error:new _errors_js__WEBPACK_IMPORTED_MODULE_3__.ES(text)}}async function findUnshare(find){const[unshare,nsenter,setpriv,sudo]=["unshare","nsenter","setpriv","sudo"].map(find);return!unshare||!nsenter||!setpriv?null:process.getuid?.()===0?{unshare,nsenter,setpriv,asRoot:[]}:!sudo||(await(0,_host_program_js__WEBPACK_IMPORTED_MODULE_5__.l6)(sudo,["-n","true"]))?.exitCode!==0?null:{unshare,nsenter,setpriv,asRoot:[sudo,"-n","--"]}}const WAY_OUT="For a repository and pull requests that you trust entirely, set sandbox to `off`. With `auto` the agent only reads files.",IN_CONTAINER="This is a container, which usually may not make the mounts that a sandbox needs. Fix: run outside the container, or start it with `--privileged`. In a workflow, take `container:` away from the job, or give it `options: --privileged`; in a pod (Actions Runner Controller), use a runner with `securityContext: { privileged: true }`.";async function isContainer(root="/"){if([".dockerenv","run/.containerenv","var/run/secrets/kubernetes.io"].some(hint=>(0,node_fs__WEBPACK_IMPORTED_MODULE_0__.existsSync)((0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(root,hint))))return!0;const cgroup=await(0,node_fs_promises__WEBPACK_IMPORTED_MODULE_1__.readFile)((0,node_path__WEBPACK_IMPORTED_MODULE_2__.join)(root,"proc/1/cgroup"),"utf8").catch(()=>"");return/docker|kubepods|containerd|libpod|lxc/u.test(cgroup)}function describeMissing(inContainer){const needs="The sandbox needs bubblewrap 0.8 or newer, or util-linux (unshare, nsenter, setpriv) with a sudo that asks for no password",fix=inContainer?`and this container has neither. Install one: \`apt-get update && apt-get install -y bubblewrap\`. ${IN_CONTAINER}`:"and this machine has neither. Fix: `sudo apt-get update && sudo apt-get install -y bubblewrap`, in a workflow as a step before this one.";return`${needs}, ${fix} ${WAY_OUT}`}function describeBroken(problem,inContainer){return`The sandbox does not start here: ${problem}. ${inContainer?IN_CONTAINER:"If unprivileged user namespaces are restricted, as on Ubuntu 24.04, allow them: `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`, in a workflow as a step before this one."} ${WAY_OUT}`}}),7680:((__unused_webpack___webpack_module__,__webpack_exports__,__webpack_require__)=>{__webpack_require__.d(__webpack_exports__,{AF:()=>buildEnvironment,F5:()=>scriptEnvironment,PG:()=>listPathFolders,qE:()=>listToolFolders});var node_path__WEBPACK_IMPORTED_MODULE_0__=__webpack_require__(6760),_host_program_js__WEBPACK_IMPORTED_MODULE_1__=__webpack_require__(7722);const listWords=text=>new Set(text.split(/\s+/u)),PLAIN=listWords(`PATH LANG LANGUAGE TZ TERM CI RUNNER_OS RUNNER_ARCH ImageOS ImageVersion
  GITHUB_ACTIONS GITHUB_ACTOR GITHUB_API_URL GITHUB_BASE_REF GITHUB_EVENT_NAME GITHUB_GRAPHQL_URL GITHUB_HEAD_REF
  GITHUB_JOB GITHUB_REF GITHUB_REF_NAME GITHUB_REF_TYPE GITHUB_REPOSITORY GITHUB_REPOSITORY_OWNER GITHUB_RUN_ATTEMPT
  GITHUB_RUN_ID GITHUB_RUN_NUMBER GITHUB_SERVER_URL GITHUB_SHA GITHUB_WORKFLOW GITHUB_WORKSPACE
  RUSTUP_TOOLCHAIN CARGO_HOME LD_LIBRARY_PATH`),TOOLS=listWords(`RUNNER_TOOL_CACHE AGENT_TOOLSDIRECTORY ANDROID_HOME ANDROID_SDK_ROOT DOTNET_ROOT GOMODCACHE GOPATH GOROOT GRADLE_HOME M2_HOME MAVEN_HOME
  NVM_DIR PYENV_ROOT RUSTUP_HOME SDKMAN_DIR VOLTA_HOME pythonLocation Python_ROOT_DIR PNPM_HOME`),TOOL_FAMILIES=/^(?:JAVA_HOME(?:_\w+)?|GOROOT_\w+)$/u,LOCALE=/^LC_[A-Z]+$/u,NETWORK=listWords(`HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy NODE_EXTRA_CA_CERTS
  SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO`),GIT={GIT_TERMINAL_PROMPT:"0",GIT_CONFIG_COUNT:"1",GIT_CONFIG_KEY_0:"safe.directory",GIT_CONFIG_VALUE_0:"*"};function buildEnvironment(options){const{environment,shellNetwork,isSecret,home,tmp}=options,passed=new Set(options.passEnv),result={LANG:"C.UTF-8",TERM:"dumb"};for(const[name,value]of Object.entries(environment)){if(value===void 0)continue;const isNetwork=shellNetwork&&NETWORK.has(name),isPlain=PLAIN.has(name)||LOCALE.test(name)||isTool(name)||passed.has(name);(isNetwork||isPlain&&!isSecret(value))&&(result[name]=value)}return{...result,PATH:listPathFolders(environment.PATH).join(":")||"/usr/local/bin:/usr/bin:/bin",HOME:home,TMPDIR:tmp,...GIT}}function scriptEnvironment(tmp){return{..._host_program_js__WEBPACK_IMPORTED_MODULE_1__.Qi,HOME:"/nonexistent",TMPDIR:tmp,GIT_CONFIG_GLOBAL:"/dev/null",GIT_CONFIG_NOSYSTEM:"1",...GIT}}function listPathFolders(path){return(path??"").split(":").filter(folder=>folder.startsWith("/"))}function listToolFolders(environment){const named=Object.entries(environment).filter(([name])=>isTool(name));return[...new Set(named.flatMap(([,value])=>value?.startsWith("/")?[(0,node_path__WEBPACK_IMPORTED_MODULE_0__.resolve)(value)]:[]))]}function isTool(name){return TOOLS.has(name)||TOOL_FAMILIES.test(name)}}),8120:((__unused_webpack___webpack_module__,__webpack_exports__,__webpack_require__)=>{__webpack_require__.d(__webpack_exports__,{Ld:()=>makeRunFolders,Q4:()=>COPY_WITHIN,cu:()=>identityOf,v$:()=>removeFolder,w_:()=>CLEAN,xQ:()=>copyWorkspace});var node_fs_promises__WEBPACK_IMPORTED_MODULE_0__=__webpack_require__(1455),node_path__WEBPACK_IMPORTED_MODULE_1__=__webpack_require__(6760),_errors_js__WEBPACK_IMPORTED_MODULE_2__=__webpack_require__(7406),_host_program_js__WEBPACK_IMPORTED_MODULE_3__=__webpack_require__(7722);const CLEAN="clean.sh";async function identityOf(workspace){const uid=process.getuid?.()??-1;if(uid!==0)return{uid,gid:process.getgid?.()??-1};const owner=await(0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.stat)(workspace);return{uid:owner.uid,gid:owner.gid}}async function makeRunFolders(run,workspace){for(const name of["context","home","tmp","layer","private","root"])await(0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.mkdir)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(run,name),{mode:name==="context"?493:448});await(0,node_fs_promises__WEBPACK_IMPORTED_MODULE_0__.symlink)(workspace,(0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(run,"lower"))}const COPY_WITHIN=3e5;async function copyWorkspace(run,workspace,signal){const args=["-c",'set -e; cp -a -- "$2" "$3"; cd "$3"; . "$1"',"sh",(0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(run,CLEAN),workspace,(0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(run,"layer","copy")],copied=await(0,_host_program_js__WEBPACK_IMPORTED_MODULE_3__.l6)("/bin/sh",args,{withinMs:COPY_WITHIN,signal});if(copied?.exitCode===0)return;const why=copied===null?`not within ${COPY_WITHIN/1e3} s`:copied.stderr.split(`
`)[0]??"";throw new _errors_js__WEBPACK_IMPORTED_MODULE_2__.ES(`The checkout could not be copied to RUNNER_TEMP: ${why.trim()}.`)}const REMOVAL=`{
  ulimit -t 60 2>/dev/null
  rm -rf -- "$1" && exit
  chmod -R u+rwx -- "$1"
  exec rm -rf -- "$1"
} 2>/dev/null &
wait`;async function removeFolder(folder,withinMs){await(0,_host_program_js__WEBPACK_IMPORTED_MODULE_3__.l6)("/bin/sh",["-c",REMOVAL,"sh",folder],{withinMs})}}),2341:((__unused_webpack___webpack_module__,__webpack_exports__,__webpack_require__)=>{__webpack_require__.d(__webpack_exports__,{Ox:()=>planRoot,dx:()=>listMounts,eF:()=>realOrSame});var node_fs__WEBPACK_IMPORTED_MODULE_0__=__webpack_require__(3024),node_path__WEBPACK_IMPORTED_MODULE_1__=__webpack_require__(6760),_files_real_paths_js__WEBPACK_IMPORTED_MODULE_2__=__webpack_require__(8736),_environment_js__WEBPACK_IMPORTED_MODULE_3__=__webpack_require__(7680),_sandbox_js__WEBPACK_IMPORTED_MODULE_4__=__webpack_require__(5218);const SYSTEM=`/usr /usr/local /bin /sbin /lib /lib32 /lib64 /libx32 /nix /var/lib/gems
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
  go/bin go/pkg setup-pnpm`.split(/\s+/u),BESIDE_BIN=/^(?:lib.*|share|include|conf)$/u,BESIDE_BIN_IN_HOME=/^lib(?:32|64|exec)?$/u;function planRoot(options){const{environment,readable}=options,home=realOrSame(options.home),closed=[options.workspace,options.runFolder].map(realOrSame),ours=[...closed,home,realOrSame(options.runnerTemp)],toolCaches=["RUNNER_TOOL_CACHE","AGENT_TOOLSDIRECTORY"].map(name=>environment[name]??""),wanted=[...SYSTEM,...listEntries("/etc",ETC).filter(at=>options.shellNetwork||at!=="/etc/resolv.conf"),...listEntries("/opt",OPT),...HOME.map(name=>(0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(home,name)),...toolCaches,...(0,_environment_js__WEBPACK_IMPORTED_MODULE_3__.qE)(environment).filter(at=>!(0,_files_real_paths_js__WEBPACK_IMPORTED_MODULE_2__.F)(realOrSame(at),home)),...(0,_environment_js__WEBPACK_IMPORTED_MODULE_3__.PG)(environment.PATH).filter(at=>!holdsRow(at,home)).flatMap(at=>[at,...listBeside(at,home)]),...readable],entries=new Map,isAllowed=place=>!ours.some(one=>(0,_files_real_paths_js__WEBPACK_IMPORTED_MODULE_2__.F)(one,place))&&!closed.some(one=>(0,_files_real_paths_js__WEBPACK_IMPORTED_MODULE_2__.F)(place,one)),isShown=place=>[...entries.keys()].some(at=>(0,_files_real_paths_js__WEBPACK_IMPORTED_MODULE_2__.F)(place,at)),absolute=wanted.filter(place=>place.startsWith("/")).map(at=>(0,node_path__WEBPACK_IMPORTED_MODULE_1__.resolve)(at));for(const at of[...new Set(absolute)].sort()){const from=(0,_files_real_paths_js__WEBPACK_IMPORTED_MODULE_2__.V)(at);if(!(from===null||!isAllowed(from))){if(SYSTEM.includes(at)&&(0,node_fs__WEBPACK_IMPORTED_MODULE_0__.lstatSync)(at).isSymbolicLink()){entries.set(at,{kind:"link",from:(0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readlinkSync)(at),at});continue}for(const place of at.startsWith("/etc/")?[at]:[from,at])(!isShown(place)||place==="/usr/local")&&isAllowed(place)&&entries.set(place,{kind:"show",from,at:place})}}return[...entries.values()].sort((a,b)=>a.at<b.at?-1:1)}function holdsRow(folder,home){const real=realOrSame(folder);return HOME.some(name=>(0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(home,name)!==real&&(0,_files_real_paths_js__WEBPACK_IMPORTED_MODULE_2__.F)((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(home,name),real))}function listEntries(folder,names){const isListed=name=>names.some(one=>one.endsWith("*")?name.startsWith(one.slice(0,-1)):name===one),nested=names.filter(name=>name.includes("/"));return[...listNames(folder).filter(isListed),...nested].map(name=>(0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(folder,name)).filter(isReadableByOthers)}function isReadableByOthers(place){const stats=(0,node_fs__WEBPACK_IMPORTED_MODULE_0__.statSync)(place,{throwIfNoEntry:!1});if(stats===void 0)return!1;const needed=stats.isDirectory()?5:4;return(stats.mode&needed)===needed}function listBeside(folder,home){const parent=(0,node_path__WEBPACK_IMPORTED_MODULE_1__.dirname)(folder),realParent=realOrSame(parent);if(folder.endsWith("/node_modules/.bin"))return[parent];if(!/\/s?bin$/u.test(folder)||realParent===home)return[];const wanted=(0,_files_real_paths_js__WEBPACK_IMPORTED_MODULE_2__.F)(realParent,home)?BESIDE_BIN_IN_HOME:BESIDE_BIN;return listNames(parent).filter(name=>wanted.test(name)).map(name=>(0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(parent,name))}function listNames(folder){try{return(0,node_fs__WEBPACK_IMPORTED_MODULE_0__.readdirSync)(folder)}catch{return[]}}function realOrSame(path){return(0,_files_real_paths_js__WEBPACK_IMPORTED_MODULE_2__.V)(path)??(0,node_path__WEBPACK_IMPORTED_MODULE_1__.resolve)(path)}function listMounts(plan,places){const{tmp,home,layer}=places,{run,workspace,gitFolders}=plan,show=(from,at)=>({kind:"show",from,at}),open=(from,at)=>({kind:"open",from,at}),mounts=[open(tmp,"/tmp"),open(tmp,"/var/tmp"),open(home,plan.home),show((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(run,"context"),_sandbox_js__WEBPACK_IMPORTED_MODULE_4__.xE),open(layer,workspace),...gitFolders.map(path=>show((0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(layer,path),(0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(workspace,path))),...plan.entries];return pinMounts(mounts.toSorted((a,b)=>a.at<b.at?-1:1))}function pinMounts(mounts){const pinned=new Map;for(const mount of mounts){const outer=[...pinned.values()].findLast(({kind,at})=>kind==="open"&&mount.at.startsWith(`${at}/`)),above=[];for(let at=(0,node_path__WEBPACK_IMPORTED_MODULE_1__.dirname)(mount.at);outer&&at!==outer.at&&!pinned.has(at);at=(0,node_path__WEBPACK_IMPORTED_MODULE_1__.dirname)(at))above.unshift({kind:"open",from:(0,node_path__WEBPACK_IMPORTED_MODULE_1__.join)(outer.from,(0,node_path__WEBPACK_IMPORTED_MODULE_1__.relative)(outer.at,at)),at});for(const pin of above)pinned.set(pin.at,pin);pinned.set(mount.at,mount)}return[...pinned.values()]}}),8255:((__unused_webpack___webpack_module__,__webpack_exports__,__webpack_require__)=>{__webpack_require__.d(__webpack_exports__,{H:()=>probeUnshare,l:()=>startUnshareBackend});var node_child_process__WEBPACK_IMPORTED_MODULE_0__=__webpack_require__(1421),node_crypto__WEBPACK_IMPORTED_MODULE_1__=__webpack_require__(7598),node_events__WEBPACK_IMPORTED_MODULE_2__=__webpack_require__(8474),node_path__WEBPACK_IMPORTED_MODULE_3__=__webpack_require__(6760),node_readline__WEBPACK_IMPORTED_MODULE_4__=__webpack_require__(481),node_timers_promises__WEBPACK_IMPORTED_MODULE_5__=__webpack_require__(8500),_errors_js__WEBPACK_IMPORTED_MODULE_6__=__webpack_require__(7406),_files_real_paths_js__WEBPACK_IMPORTED_MODULE_7__=__webpack_require__(8736),_text_wait_js__WEBPACK_IMPORTED_MODULE_12__=__webpack_require__(7940),_host_program_js__WEBPACK_IMPORTED_MODULE_8__=__webpack_require__(7722),_sandbox_js__WEBPACK_IMPORTED_MODULE_9__=__webpack_require__(5218),_scratch_js__WEBPACK_IMPORTED_MODULE_10__=__webpack_require__(8120),_system_root_js__WEBPACK_IMPORTED_MODULE_11__=__webpack_require__(2341);function namespaceArguments(shellNetwork){return`--mount --pid --fork --ipc --uts${shellNetwork?"":" --net"}`.split(" ")}async function probeUnshare({asRoot,unshare},shellNetwork){const namespaces=[...namespaceArguments(shellNetwork),"--mount-proc","/bin/sh","-c",":"];return(0,_host_program_js__WEBPACK_IMPORTED_MODULE_8__.ng)([...asRoot,unshare,...namespaces],"unshare did not end")}async function startUnshareBackend(programs,plan,identity,signal){const{run,shellNetwork}=plan,mark=`sandbox-${(0,node_crypto__WEBPACK_IMPORTED_MODULE_1__.randomBytes)(8).toString("hex")}`,script=[[...[programs.unshare,...namespaceArguments(shellNetwork),"/bin/sh","-c"],rootScript(plan,identity,mark)].map(_sandbox_js__WEBPACK_IMPORTED_MODULE_9__.r7).join(" "),"code=$?",`cd / && rm -rf -- ${(0,_sandbox_js__WEBPACK_IMPORTED_MODULE_9__.r7)(run)} 2>/dev/null`,"exit $code"].join(`
`),[file="",...args]=[...programs.asRoot,"/bin/sh","-s"],holder=(0,node_child_process__WEBPACK_IMPORTED_MODULE_0__.spawn)(file,args,{cwd:"/",env:_host_program_js__WEBPACK_IMPORTED_MODULE_8__.Qi,detached:!0,stdio:"pipe"});let complaint="";holder.stderr.on("data",chunk=>{complaint.length<1e3&&(complaint+=chunk.toString("utf8"))}),holder.stdin.on("error",()=>{});const ended=(0,node_events__WEBPACK_IMPORTED_MODULE_2__.once)(holder,"close").catch(error=>{complaint=error.message}),lines=(0,node_readline__WEBPACK_IMPORTED_MODULE_4__.createInterface)({input:holder.stdout})[Symbol.asyncIterator]();holder.stdin.write(`{
${script}
}; exit
`);const limit=AbortSignal.any([signal,AbortSignal.timeout(_scratch_js__WEBPACK_IMPORTED_MODULE_10__.Q4)]),up=await(0,_text_wait_js__WEBPACK_IMPORTED_MODULE_12__.v)(lines.next(),limit).catch(()=>null),[,pid,layer,users]=/^up (\d+) (overlay|copy) (yes|no)$/u.exec(String(up?.value))??[];if(pid===void 0){holder.stdin.end(),up!==null&&await ended;const reason=up===null?`not within ${_scratch_js__WEBPACK_IMPORTED_MODULE_10__.Q4/1e3} s`:complaint.trim().split(`
`)[0];throw new _errors_js__WEBPACK_IMPORTED_MODULE_6__.ES(`The sandbox could not be built: ${reason||"no reason was given"}.`)}let hasEnded=!1;const usersFile=users==="yes"?`/proc/${pid}/root/dev/${mark}-user`:null;return{name:"unshare",layer:layer==="copy"?"copy":"overlay",words:enterWords(programs,plan,identity,{pid,mark,usersFile}),asRoot:programs.asRoot,endsWithGroup:programs.asRoot.length===0,async killInside(){holder.stdin.write(`kill
`),hasEnded=(await lines.next()).done===!0},findFailure:async()=>hasEnded?"the process that holds its namespaces has ended":null,async close(){holder.stdin.end(),await Promise.race([ended,(0,node_timers_promises__WEBPACK_IMPORTED_MODULE_5__.setTimeout)(5e3,void 0,{ref:!1})]),holder.unref()}}}function enterWords({nsenter,setpriv},{shellNetwork},{uid,gid},holder){const{pid,mark,usersFile}=holder,enter=[`[ -e /dev/${mark} ] || exit 125`,...uid!==0?["chmod 666 /proc/self/fd/1"]:[],'"$@" </dev/null',"exit $?"].join(`
`);return[nsenter,...`--target ${pid} --mount --pid --ipc --uts`.split(" "),...shellNetwork?[]:["--net"],...usersFile===null?[]:[`--user=${usersFile}`],"/bin/sh","-c",enter,"sh",setpriv,...`--reuid ${uid} --regid ${gid} --clear-groups --no-new-privs`.split(" "),"--inh-caps=-all","--bounding-set=-all"]}const LAYER=`
mkdir layer/upper layer/work layer/merged
chown $owner layer/upper
chmod "$(stat -c %a lower/.)" layer/upper
folders=lowerdir=lower,upperdir=layer/upper,workdir=layer/work
layer=overlay
if ! mount -t overlay -o $folders overlay layer/merged 2>/dev/null; then
  layer=copy
  cp -a -- lower/. layer/copy
  mount --bind layer/copy layer/merged
fi
mount -o remount,bind,nodev layer/merged
(cd layer/merged; . ../../${_scratch_js__WEBPACK_IMPORTED_MODULE_10__.w_})`,MOUNT=`
show() { if [ -d "$1" ]; then printf '%s\\0' "$2"; else printf '%s\\0' "\${2%/*}"; fi; }
open() { printf '%s\\0' "$1" "$2"; }
link() { printf '%s\\0' "\${2%/*}"; }
mounts | xargs -0 mkdir -p --
show() {
  [ -e "$1" ] || return 0
  [ -e "$2" ] || : > "$2"
  printf '%s none bind,ro,nodev\\n' "$3"
}
open() { printf '%s none bind\\n' "$3"; }
link() { ln -s "$1" "$2"; }
mounts > table
mount --all --fstab table`,DEVICES=`
mount -t tmpfs none root/dev
: > root/dev/$mark
mkdir root/dev/pts root/dev/shm
for name in null zero full random urandom tty; do
  : > root/dev/$name
  mount -o bind,ro /dev/$name root/dev/$name
done
mount -t devpts -o ptmxmode=0666 none root/dev/pts
mount -t tmpfs -o size=10% none root/dev/shm
(cd root/dev; ln -s pts/ptmx ptmx; ln -s /proc/self/fd fd; ln -s fd/0 stdin; ln -s fd/1 stdout; ln -s fd/2 stderr)`,USERS=`
users=no
if unshare --user true 2>/dev/null; then
  users=yes
  unshare --user sleep 60 &
  sleeper=$!
  for kind in uid gid; do
    map=$(while read -r first rest count; do echo "$first $first $count"; done < /proc/self/\${kind}_map)
    tries=0
    until echo "$map" 2>/dev/null > "root/proc/$sleeper/\${kind}_map"; do
      tries=$((tries + 1))
      [ $tries -lt 500 ]
      sleep 0.01
    done
  done
  : > root/dev/$mark-user
  mount --bind "root/proc/$sleeper/ns/user" root/dev/$mark-user
  kill -s KILL "$sleeper"
  nsenter --user=root/dev/$mark-user -- sh -c 'echo 0 > root/proc/sys/user/max_user_namespaces'
fi`;function rootScript(plan,{uid,gid},mark){const{run}=plan,places={tmp:`${run}/private/tmp`,home:`${run}/private/home`,layer:`${run}/layer/merged`},all=(0,_system_root_js__WEBPACK_IMPORTED_MODULE_11__.dx)(plan,places),pointOf=at=>{const outer=all.findLast(one=>one.kind==="open"&&one.at!==at&&(0,_files_real_paths_js__WEBPACK_IMPORTED_MODULE_7__.F)(at,one.at));return outer===void 0?`${run}/root${at}`:(0,node_path__WEBPACK_IMPORTED_MODULE_3__.join)(outer.from,(0,node_path__WEBPACK_IMPORTED_MODULE_3__.relative)(outer.at,at))},mounts=all.map(({kind,from,at})=>{const octal=mark2=>`\\${mark2.charCodeAt(0).toString(8).padStart(3,"0")}`,entry=[from,`${run}/root${at}`].map(path=>path.replace(/[ \t\n\\]/gu,octal)).join(" ");return`${kind} ${(0,_sandbox_js__WEBPACK_IMPORTED_MODULE_9__.r7)(from)} ${(0,_sandbox_js__WEBPACK_IMPORTED_MODULE_9__.r7)(pointOf(at))} ${(0,_sandbox_js__WEBPACK_IMPORTED_MODULE_9__.r7)(entry)}`});return`set -eu
PATH=${_host_program_js__WEBPACK_IMPORTED_MODULE_8__.EY.join(":")}
umask 022
owner=${uid}:${gid} mark=${mark}
read -r self rest < /proc/self/stat
cd ${(0,_sandbox_js__WEBPACK_IMPORTED_MODULE_9__.r7)(run)}${LAYER}
mount -t tmpfs none private
mkdir -m 1777 private/tmp
mkdir -m 0700 private/home
mount -t tmpfs none root
mkdir root/proc root/dev root/old
mounts() {
${mounts.join(`
`)}
}${MOUNT}
chown -R $owner private/tmp private/home
mount -t proc proc root/proc${DEVICES}${USERS}
mount -o remount,ro root/dev
[ ! -e root/proc/keys ] || mount --bind root/dev/null root/proc/keys
mount -o remount,bind,ro root/proc
${plan.shellNetwork?"":"ip link set lo up 2>/dev/null || :"}
mount -o remount,ro root
cd root
pivot_root . old
cd /
umount -l /old
echo "up $self $layer $users"
set +e
while read -r line; do
  kill -s KILL -- -1
  command eval '(:)'
  echo killed
done 2>/dev/null`}})};export{id,ids,modules};
