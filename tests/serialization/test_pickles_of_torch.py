"""Plain pickles that PyTorch wrote, and pickles of dtypes, layouts and schemes that it can read."""

from __future__ import annotations

import base64
import copy
import io
import pickle
import pickletools
import zlib

import pytest

import rushlight as torch
from rushlight import _utils, storage
from rushlight.ops.memory.dtype import DTYPES, LAYOUTS, MEMORY_FORMATS, QSCHEMES

RECORDED = (
    r"c-q}qdt8j$8g6PTC2cAclC7&t>E3i9Dut2gLMXGRnr^0<rl!;;imeNysL6IIBnfTVD3>iNPEsg|C_;|Q=7dTid*giT"
    r"nWFaD{eI4W$C=-+p895e>s#x2pZ9s+^~KXOPkk?iPn_65Bq!wXBKZ+wk&=)f;U8?oiV}u!BgG;WRs_c{Duf%rk_=!)"
    r"n~F22@k1oTA}L@8am1pbEH0lNzzU4uhq3%(g`7xgl*2@tlvKR*21V|lS<c<#LJ!Q>Fp8IUeI`TwjuS{3cn_r>9v;CL"
    r"^8NW-Rx~FfGK9|)(5M04L#S`KAwnUS!{YD)LfAZkbh5W1bx{}_&S6D{{K$zE$ixZg2HvvN#mHcOgis*Ml=haP{tMv="
    r"1#(QfH=WGE=LHGmne?bA>X`=K@?@}N$pR^VY(a4@HN-=5O;JGeR;Gqno0}OMTQN*cEX_<9<^svI{^3yq8K&Gkp@6=C"
    r"n#@-q^><@wY$G|T{vTQoO81~l57K*3wg<)Q#qMIJ3{z&km`PhNP7w{JXyJ1Fg%m4PBnG=h1aKla0Zt+QLW<l8?qVS|"
    r"UZfDtj$nszgq#R*uymhreYu<=4yGFf%R9(?3(;_<WF-9iaF{Tx&8<xt{lXzVKsb8GQsI#P9Ef;(@*|;HiYeVgbMSXP"
    r"R3_uEBtoj3UsPZqMP0AVS-sgY{4>8$I`%Kgh+w)%7K5p~Jtd>bRe8rx-!$je7Urf_ru{gl4a9lRSc-Gn7xho?<(t-@"
    r"Z(=%%;bg~=6uClivPh8?63OZzJ~;~FmiOm}g>yME{iWUOL}n6(9TdI+VfQ+vq8E?M9WapNSer47`%9cYpyNo!Qgrt^"
    r"iIm*{bbpqnLJy&4M6;lHP!umRB#6fe5C>ZlGUflT$h5XF{VKoc9oxq*<fZ<W%HXLYxhQJ6CYHSnDhQ(3JR!Bc03y?&"
    r"pJgf#_O*eJ|MNDmz-u;7$QY1I3v&z0ujLYB`*2B<{)_7d>xza^$={pG?7+Yf9*1Je#r}ch4yII6A8Qs3@(*V7cpR!D"
    r"33elFe)!*Kb09JqmJBm<Q-;ackoje7Uoz>R$z;+JDLTn-1By`<!e|dsUnrFnf2D7s_&f2V{J5NfNFxbq{FS6h#`dfJ"
    r"<nzE@g4YJ_0wi=Pe#@OJ2w*T6UriRq{s&oKJ_C})loIyMQaaUevWW?5eKtXIr8moYd{*yyfq3Fnk$fQOJWz{1&n>ak"
    r"AP$cc!4{I1Yfw)M=15(3`FuHpScqHzCpyHR%qEhdHi>0osj~AVVLYSu4TRBwIxY?9y5?5>4<N2(ssr0D22*h?Q|*7U"
    r"p!GS0^u7MRP<IT$eb*Ny5=>}+UQKXbQ=A>a%lEQI64Xp7_(ZT-?|}+I>mAO=3C`!zb`uQPRiQ+14Q<7Ig6HX`IRvln"
    r"PFziJgOvq`;FG!Qx8UTnq+5YtUj6|*w`*Pfa)OI;OI&bLS}_IdyDuA)PS7PYIfP*Gk|T=<j?v6(BIv1>v4&voTH7e>"
    r"%dQTGtKmy)YzPKUKJy2`x0`+E5j4DIRYI^pDHivKJkc^Gn5KR~KyX6g$7X^jjBhR_=&e8H4#6Qd`i2B&-F=MmRH~E{"
    r"L{O`EQwG7E-Mhh;d)Ui!1WVe=4ieNpsP~p&P2*m7f=$IS*tcoOQ)lpZ<%2o+T7G~iQR=MMa`5#7e_1y{rx)pG2;NY+"
    r"yB~aYmIo4So%O<!pw}>U-~|u$RNUuz4Dn++TmMLq?_~!*6vm|eMsVxve{4g%T}M?A)RB%4C3q+ApfSNidk;S&*q%N4"
    r"F7|o-oIb%EpE)`NuN1i<eyJG^Hwiv3h&@U0`ujytobIB+i3A@T@$hP4|BxGlaUUaL6T!@U8Sq@RVA5vrmwOraZR%L*"
    r"fjDF*y&<?+Ezbh;8LC`Iob_1uvA!exD~NOHuZa>J=s(50Y6zQ@&RsXmw|T59=6`Ea2_4GU%VHnnX<WpqdY>+MQ60M("
    r"`fnK&YfI4Jc|Q2v;!*e=!5v$oUx8ou79n_viMvYhq4n)u1gnaJRv_+WhdRN(b^JntM@1cYj)QHzFY?CjVLR4+{R#F{"
    r"qp}C-c=BN5Y4BgSuLipGvqgNqU)BhI?|Ti+CYY}qJ_mX7>r3!g60jkfpyH#$3kcTTX*VF)mR|7>f=gxXo)EM!@31Bq"
    r"^rqbr`noa(IvduiK8m2FU5*3BnJnUhr)m1X;)RfItt&x+p5Y@LoDCB^335N&8V{Z?Rn<d>4OQ6x;GFNZ!3(zx&t0%="
    r";d6pd)i2*BxVE8i1i?l#Pprpq>yv$mUvN$U-iT~Bo`5{))-Fc8XKRQEuIoyN|IB>X(Ta73=H7shT&<FaU%0CyKeW5w"
    r"w-K}rwLC^pBlJESK2VflhIPzlAb-zSs)R#llkz?yE~Dlm{`L0+(ED*lQyD?E)M*6-J#H>QesVHT&LTKEY7BJgmcRER"
    r"^6_vbeD6Z7m4wIYgr5kqtX_bZ3wqT&f(*^8mkGWZZ3Lk%)@_2mYJ68gr$$D%V0euU%~=2FcX7y<bVq&UTjHrq_>S@W"
    r"$cF@P(UcHpU&D2HuH5*I@Qu}znNIkAeLH-IJ)>w6_$@9+o~NwxhF|@h=#vazZrBbVtnIRgUU}!kv7d?Jjqsli&X4fd"
    r"Jg3zfXrKIsjzymQGamXZ%iWfSc=0B{?@p(l13y*scOm~r35>yWfs}hA!I6{Zf**~kg}AONr;q$-mDfgn@O-lY<Mhi0"
    r"?ZtYs=ETB(w2c2ru-woa`B52?RSO;ME--=rKGdp29M641p0#c}4!>VE$q>3-+_@)@;KkAB!K-=WmFe(-@7Bf<?7lZ2"
    r"^Nh1mY=I66Mj`Khi=Kx1w%W~N9Kr0%bi^Y!%pwfWdu@nPI$^9I^6>b)cGN#Tw<-94{-}|N!{M5kOw?ObW#nD@)01bh"
    r"A8zPkg2xW<p)<oeQ$5tVEXF(N$HtI}{G)Bdymxb4cfx-Q+>vKHbX;b`FF21`;6ZK;blll-1@&eByA15(SaU1t<}Sw%"
    r"csaSyE(|`pfmsY6JCu0{zByceFz!E=eh&4(UONqSYt;yOti!v)9`$X5yd8KvTFwIxKkl4>cwSO}(SUs9`k-GpTxE6$"
    r"@wU-}E?QmhKre4JOY%{_0{^uG`PD|>j=K9UR1rRs=z@H1+Oz2h`Vr;3(5>nM5uST>xCQD(=EW(GQJ42vqaSg-odW*i"
    r"MAN{BLbW}3El5g6-?CLv7k$AzA=``K+(}K|@EPV3)XOm6t?>k3Ir$)7`{gSpqh8+e#klEjhQpssSI$8GufCxHpPX64"
    r"Mx8P8lk6vX)=tcC(^ijtI+q@YUj_$EP=+5k|Bn8m(6Ta#pz`ii<lkxgiWt<(tk>v!R*pHif#B;8j)Mq}n93Rr|9jAk"
    r"x@%afh4@uuYQbmH{&<VL%dcDp{hir)5xUv)M<sNfx=ywf@vIL-e*1)2SD`M1=7OIa4j0fzx%%vZKZhT$$NbZ43sB!q"
    r"<Rk}UU1uZzL|%3;1TUeQE~sN3j=AuKyR6+fXlbOGVBed6xQ*|h*(oj|c-#0r_T|xD3q20oD+J%yHD|)#tFqfpq24@h"
    r"Mf^+rr#DM<NdtfB+8@D_cd<MAn!6`;5dZeYojAe>qQ{}mb(qgW-Ya{uQBOv1EyDb_huWY|y43U>@l*?QI)HW5b;Cc4"
    r"lv<X-pIcI(yN3?f&>w7BsEzuSU2Y4#mv*eh^@<PG=%-RfxS<ZlT1umSbh-y1ZpYm6pu>YjC2LWSF4tmR)t{E4?w77Q"
    r"94_fcIoPLjZZPt@(0e2NFCmWse=ENqi#o&@q>8?ztUeL`L}y(Gzl}vQ;8SCjA$+v7WtcxfVW~3W6=9PC-40JlKp$G|"
    r"p;(Ccjbx+GZQ~V15Zqp>yPn`Lq5>cI?TBOOlNIA0K}W;&=fPL9O4#7-L3bVaElw$gzjc{f8lk_iUh;w9inar&?`zY3"
    r"#(IZpjf6i8<<G=?!#*uRe=w`08Fl31BPZ0M<JNMhKiA~UP<QfaE70exln+9lkGmw}M{xJ<)wqA5%5Q4$C&!Ew<Rz~Q"
    r"bs*x2Wc}M;$|61==$6n&#Ih&I?<{B0FQ@~{h3F>=UW&1gF@*-;rDcv9{E^#bgS<UBF>@-O=i<5*I??EYZ?%W%;J)%D"
    r"S60DK(!#NxBdt2{zuy$-=v!3$9%7#~2V3}gOMVsN7PEg7@>}WYbkyZNCIy(swlp5|e3UE2_b-nQLH~PmjS6(MDgI~Z"
    r"(#MDkU$@dxN8dJMtULVpk|Srb#21c2H^P)?<l*zi#A(pK1!EoZ=JXWgq4r5D=!L_+gM6XOuE746jw=I?M`Ctp!Y^jd"
    r"hd%2!HiL)h^bU+udX)el^|+RC7<Fue4EpEA>0R*4<c6KVdv6q=zg^>%Q5RUcz84VJKW3bV@7DQYJ)WtjfE7~~BEPq|"
    r"bi$_&x@MtHw(foazbubAiTwq}%>NyJmD&dXdbrmVdBZDPg8sc_#s%zaa7T<7=cM^@@Y6@bqH_uE)sMtJYZt0?5%l9a"
    r"q8?2?JRR$bT($BV@=Wmu=zH?-G{kY3jpIx7W1B`o@60=`=s(vVY(oEbb$dSQmF3H!IM43m9zs3ZzxQqe;?uST{mX$9"
    r"w-B$X?;|9yqS+l-zt@@*&?&Pf5zl3}ZbY8h8!kotQHpOwAFsLUDC(m^mpOE|agD@R^GEq(|3$NI;aqH<(}evL4^}`Q"
    r"B;Q$vdhWNn1#y^DX^%RVUC|6Z`X)*G@zX|^aUQ+)(=7PsqiP<`pH(`U$g9O8<govV!po@Z4O0`r&+(?)Sl1j;6#US!"
    r"D;EB7a+3~xZ{##X_=E4+JoH(c(>&3)GVKkZm)YWq7r0;3s}6N=k3G)w%JJcdx7{iy@cZ_xE%Ifv_MhmlJaS_ZXSM1b"
    r"Zt&Uesy(P5zl=bB+3(H5xb3D3;NwsHJn|*+RYsqDRd5785T;j-d0wa2AkK}U$Kdaka}sdgm>m<2I^Lah7Je1_`(pG@"
    r"oVORzKMy*TkABgc<pciJJ>P&I;i#vmn|kB7p{`tYnTPiaM-v_*-Z$SJ!aDEdgy0+$E;K>@)+~RH^Y3W;OL%@<-AX?C"
    r"bNXWRg`q#MKpq#oQo}j?gsSOG==YS{E#&(NE8K7Q=?vEU>RKRtC~eU*`01}|H_(U2^Rm&OPu_R&67v1kPgw8bS1~v*"
    r"n&>d`-p01u9sE=^9KyIyjrUN$wSw26|J2o~LEN7WJAyuB(5>Me$m5bv$iM2&6r8_u^ja}r)O}0DYm|Ku`pDXI`q1O9"
    r"BrfznC;14@(IU1b>JK|^BlweRt;M->;ni65fk(yeI0u<?K7#*87dns^UT(M1&lcY^gsx1S9dQ5HXf>SI8pf%jjwpsc"
    r"gWl7$hQR0R|Ln$j^1v_0P-k2ArK4ZC{L&Ks>uLYu9_n-I1L!Iv+X+5mZ|AvD>c9B(ymxgiQ~m3U*CerDl+nKdR{HSk"
)
"""What `pickle.dumps` of torch 2.13 gave, compressed: of tensors, and of a generator."""

EXPECTED = {
    "tensor": [[3, 4, 5], "torch.int64"],
    "parameter": [[1.0, 1.0], "torch.float32"],
    "buffer": [[2.0], "torch.float32"],
    "complex": [[1 + 2j], "torch.complex32"],
    "unsigned": [[7], "torch.uint16"],
    "quantized": [[0.5, 1.0], "torch.quint8"],
    "channels": [[[0.5], [1.0]], "torch.qint8"],
}


def test_tensors_of_all_kinds_are_read() -> None:
    with torch.as_torch():
        values = pickle.loads(zlib.decompress(base64.b85decode(RECORDED)))
    for name, (numbers, dtype) in EXPECTED.items():
        value = values[name]
        plain = value.dequantize() if value.is_quantized else value
        assert [plain.tolist(), str(value.dtype)] == [numbers, dtype], name
    assert values["parameter"].requires_grad
    assert values["buffer"].persistent is True
    assert (values["meta"].shape, values["meta"].device.type) == ((2,), "meta")
    assert values["generator"].initial_seed() == 5
    expected = torch.rand(3, generator=torch.Generator().manual_seed(5))
    assert torch.equal(torch.rand(3, generator=values["generator"]), expected)


def test_scales_that_do_not_fit_are_refused() -> None:
    numbers = storage.QUInt8Storage([1, 2])
    wrong = (torch.per_channel_affine, torch.ones(3), torch.zeros(3, dtype=torch.int64), 0)
    with pytest.raises(RuntimeError, match="scales that do not fit"):
        _utils._rebuild_qtensor(numbers, 0, (2,), (1,), wrong, False, {})


ALL = [*DTYPES.values(), *LAYOUTS.values(), *QSCHEMES.values(), *MEMORY_FORMATS.values()]


@pytest.mark.parametrize("value", ALL, ids=str)
def test_singletons_are_found_again(value) -> None:
    for protocol in (0, 2, 4):
        assert pickle.loads(pickle.dumps(value, protocol)) is value
    assert copy.deepcopy(value) is copy.copy(value) is value
    file = io.BytesIO()
    torch.save([value], file)
    file.seek(0)
    formats = value in MEMORY_FORMATS.values()  # which PyTorch does not take unasked either
    assert torch.load(file, weights_only=not formats) == [value]


class _Nothing:
    def __reduce__(self) -> str:
        return "NOTHING"


NOTHING = _Nothing()


def test_files_hold_objects_that_are_found_by_a_name_of_their_own() -> None:
    file = io.BytesIO()
    torch.save([NOTHING], file)
    file.seek(0)
    assert torch.load(file, weights_only=False) == [NOTHING]


def test_pickles_name_what_pytorch_has() -> None:
    with torch.as_torch():
        named = {
            value: [argument for _, argument, _ in pickletools.genops(pickle.dumps(value, 2))]
            for value in (torch.float32, torch.sparse_coo, torch.per_tensor_affine)
        }
    assert "torch float32" in named[torch.float32]
    assert "torch.serialization _get_layout" in named[torch.sparse_coo]
    assert "torch per_tensor_affine" in named[torch.per_tensor_affine]
